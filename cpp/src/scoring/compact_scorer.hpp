// Scores answers in up to four sets, which share a compact index, with several numbers at a time and few branches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "index/references.hpp"
#include "pfgen/constants.hpp"
#include "scoring/compact_lane.hpp"

namespace pfgen {

// Its memory is used again for every answer.
struct CompactMemory {
  static constexpr std::size_t kRoom = CompactLane::kRoom;
  static constexpr std::size_t kPairs = 1024;

  std::vector<std::uint16_t> seen_in;  // number of the answer that a symbol was last seen in
  std::uint16_t n_answers = 0;
  std::array<std::uint8_t, kPairs> latest;  // behind which symbol a pair of symbols, by its hash, was last
  std::array<std::uint64_t, kRoom> contributions;
  std::array<std::uint8_t, kRoom> depths;
  std::array<std::uint16_t, kRoom> trigrams;  // levels of the 3-gram that ends with each symbol
  std::array<std::uint16_t, kRoom> levels;    // of each code point
  // An n-gram of two or more symbols that ends at a position and was there before.
  struct Repeat {
    std::uint32_t position, length;
    const CompactStates::State* state;
  };
  std::array<Repeat, kRoom> repeats;
  std::size_t n_repeats = 0;
};

class CompactScorer {
 public:
  using Lane = CompactLane;
  using Memory = CompactMemory;

  CompactScorer(const SetGroup& group, Profile profile)
      : group_(&group), states_(&group.index().states<CompactStates>()), is_paper_(profile == Profile::kPaper) {}

  const CompactStates& states() const noexcept { return *states_; }

  // Fills the symbols of a lane, which are to be walked, from its code points.
  void take_symbols(CompactLane& lane, CompactMemory& memory) const;
  // Appends the scores of the group to those of a lane that has been walked.
  void score(CompactLane& lane, CompactMemory& memory) const;

 private:
  using State = CompactStates::State;
  // The positions with a property, one bit each.
  using Positions = std::array<std::uint64_t, (CompactLane::kRoom + 63) / 64>;

  void take_positions(CompactLane& lane, CompactMemory& memory, Positions& partial, Positions& candidates) const;
  void find_repeats(const CompactLane& lane, const Positions& candidates, CompactMemory& memory) const;
  void subtract_repeats(const CompactLane& lane, CompactMemory& memory) const;
  const State& link_of(const State& state) const noexcept;
  // Of the n-grams of a state that are longer than `length`.
  std::uint64_t longer_counts(const State& state, std::uint32_t length) const noexcept;
  PerSet<double> fluency(const CompactLane& lane, const CompactMemory& memory) const;
  PerSet<double> truthfulness(const CompactLane& lane, CompactMemory& memory) const;

  const SetGroup* group_;
  const CompactStates* states_;
  bool is_paper_;
};

}  // namespace pfgen
