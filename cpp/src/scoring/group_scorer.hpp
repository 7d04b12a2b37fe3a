// Scores answers in up to four sets, which share an index. A walk through the index has found, for every position, the
// longest n-gram that the references share (`matched`), and the longest that already occurred in the answer
// (`repeated`).
//
// All scores are sums over these positions. Profile paper also walks through the marks, and adds other numbers.
#pragma once

#include <type_traits>

#include "formulas/lengths.hpp"
#include "index/references.hpp"
#include "pfgen/constants.hpp"
#include "scoring/workspace.hpp"

namespace pfgen {

// Defined for CompactStates and WideStates.
template <class States>
class GroupScorer {
 public:
  GroupScorer(const SetGroup& group, Profile profile)
      : group_(&group), states_(&group.index().states<States>()), is_paper_(profile == Profile::kPaper) {}

  const States& states() const noexcept { return *states_; }

  // Fills the symbols of a lane, which are to be walked, from its code points, and makes room for their positions.
  void take_symbols(Lane<States>& lane) const;
  // Appends the scores of the group to those of a lane that has been walked.
  void score(Lane<States>& lane, Workspace<States>& work) const;

 private:
  using Positions = std::span<const Position<States>>;  // after each symbol

  // The lengths of a compact index are the usual ones.
  auto lengths() const noexcept {
    if constexpr (std::is_same_v<States, CompactStates>) return UsualLengths();
    else return group_->index().lengths();
  }
  Symbol n_known_symbols() const noexcept { return static_cast<Symbol>(group_->index().alphabet().size()); }
  void take_positions(std::span<const Symbol> symbols, Positions positions, Workspace<States>& work) const;
  void subtract_repeats(std::span<const Symbol> symbols, Positions positions, Workspace<States>& work) const;
  void subtract_reached(Positions positions, Workspace<States>& work) const;
  PerSet<double> fluency(const AnswerLane& lane, const Workspace<States>& work) const;
  PerSet<double> truthfulness(const AnswerLane& lane, const Workspace<States>& work) const;

  const SetGroup* group_;
  const States* states_;
  bool is_paper_;
};

}  // namespace pfgen
