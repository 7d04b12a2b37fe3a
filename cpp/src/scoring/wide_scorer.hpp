// Scores answers in up to four sets, which share a wide index.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "index/references.hpp"
#include "pfgen/constants.hpp"
#include "scoring/lanes.hpp"
#include "scoring/repeats.hpp"

namespace pfgen {

// An answer in progress.
struct WideLane : LaneParts {
  using States = WideStates;
  using Symbol = pfgen::Symbol;
  using Stored = const WideStates::State*;

  static Stored stored(const WideStates::State& state) noexcept { return &state; }
  std::size_t past(std::size_t part) const noexcept { return n + 2 + part * kPast; }
  Symbol* symbols() noexcept { return all_symbols.data(); }
  const Symbol* symbols() const noexcept { return all_symbols.data(); }

  std::vector<Symbol> all_symbols;    // with the marks of profile paper; then kUnknown
  std::vector<std::uint8_t> matched;  // the longest n-gram after so many symbols
  std::vector<Stored> states;         // that holds it
  std::vector<std::uint8_t> counted;  // which code points truthfulness counts, as far as they can raise a score
  std::vector<std::uint8_t> repeated, earlier;  // of each symbol, from number 1 on: what SeenSymbols tells
};

// How long the n-grams of each state are that an answer has reached. Its memory is used again for every answer.
class ReachedStates {
 public:
  // Begins another answer.
  void begin(std::size_t n_states) {
    if (lengths_.size() < n_states || ++n_answers_ >= kMostAnswers) {
      lengths_.assign(std::max(lengths_.size(), n_states), 0);
      n_answers_ = 1;
    }
  }
  // A state is reached with an n-gram of `length` symbols: of those that end here, how many symbols the longest had
  // that it was reached with before; 0 for none.
  std::uint32_t put(StateId state, std::uint32_t length) noexcept {
    std::uint32_t& reached = lengths_[state];
    const std::uint32_t before = reached / kLengths == n_answers_ ? reached % kLengths : 0;
    reached = n_answers_ * kLengths + std::max(before, length);
    return std::min(before, length);
  }

 private:
  static constexpr std::uint32_t kLengths = kMaxOrder + 1;
  static constexpr std::uint32_t kMostAnswers = std::numeric_limits<std::uint32_t>::max() / kLengths;

  std::vector<std::uint32_t> lengths_;  // of each state: the answer that reached it last, and the length
  std::uint32_t n_answers_ = 0;
};

// What one thread uses again for every answer.
struct WideMemory {
  SeenSymbols seen;
  Repeats<WideStates> repeats;
  ReachedStates reached;
  std::vector<WideStates::Counts> contributions;  // contribution of each position to the raw fluency of the sets
  std::vector<std::uint16_t> partial;             // where a state holds longer n-grams than the answer
  std::vector<std::uint16_t> candidates;          // where a pair of symbols may be repeated
  // Levels of the 3-gram that ends at each position of the marked answer, and of two more that have none.
  std::vector<WideStates::Levels> trigrams;
};

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
  void take_positions(const WideLane& lane, WideMemory& memory) const;
  void subtract_reached(const WideLane& lane, WideMemory& memory) const;
  PerSet<double> fluency(const WideLane& lane, const WideMemory& memory) const;
  PerSet<double> truthfulness(const WideLane& lane, const WideMemory& memory) const;

  const SetGroup* group_;
  const WideStates* states_;
  bool is_paper_;
};

}  // namespace pfgen
