// Scores answers in up to four sets, which share a wide index.
#pragma once

#include "index/references.hpp"
#include "pfgen/constants.hpp"
#include "scoring/wide_lane.hpp"

namespace pfgen {

class WideScorer {
 public:
  using Lane = WideLane;
  using Memory = WideMemory;

  WideScorer(const SetGroup& group, Profile profile)
      : group_(&group), states_(&group.index().states<WideStates>()), is_paper_(profile == Profile::kPaper) {}

  const WideStates& states() const noexcept { return *states_; }

  // Fills the symbols of a lane, which are to be walked, from its code points, and makes room for their positions.
  void take_symbols(WideLane& lane, WideMemory& memory) const;
  // Appends the scores of the group to those of a lane that has been walked.
  void score(WideLane& lane, WideMemory& memory) const;

 private:
  const Lengths& lengths() const noexcept { return group_->index().lengths(); }
  Symbol n_known_symbols() const noexcept { return static_cast<Symbol>(group_->index().alphabet().size()); }
  void take_positions(const WideLane& lane, WideMemory& memory) const;
  void subtract_repeats(const WideLane& lane, WideMemory& memory) const;
  void subtract_reached(const WideLane& lane, WideMemory& memory) const;
  PerSet<double> fluency(const WideLane& lane, const WideMemory& memory) const;
  PerSet<double> truthfulness(const WideLane& lane, const WideMemory& memory) const;

  const SetGroup* group_;
  const WideStates* states_;
  bool is_paper_;
};

}  // namespace pfgen
