// Memory that one thread uses again for every answer that it scores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "formulas/averaging.hpp"
#include "index/states.hpp"
#include "scoring/cover.hpp"
#include "scoring/repeat_finder.hpp"

namespace pfgen {

// The position of a walk after a symbol: a copy of the state, so that scoring need not look it up, and the length of
// the longest n-gram of the references that ends here. The length takes the place of the base of the link.
template <class States>
class Position {
 public:
  using State = typename States::State;

  Position() = default;
  Position(const State& state, std::uint32_t matched) noexcept : state_(state.with_base(matched)) {}

  // Without the base of its link.
  const State& state() const noexcept { return state_; }
  std::uint32_t matched() const noexcept { return state_.link_place().base; }

 private:
  State state_;
};

// States of the wide form are larger, and long answers ask which state it is.
template <>
class Position<WideStates> {
 public:
  Position() = default;
  Position(const WideStates::State& state, std::uint32_t matched) noexcept : state_(&state), matched_(matched) {}

  const WideStates::State& state() const noexcept { return *state_; }
  std::uint32_t matched() const noexcept { return matched_; }

 private:
  const WideStates::State* state_;
  std::uint32_t matched_;
};

// An answer in progress, as its source sees it. Lanes are reused.
struct AnswerLane {
  std::size_t number = 0;             // of the lane, below kLanes
  std::vector<char32_t> code_points;  // the part that the profile reads
  std::vector<SetScore> sets;         // of the sets that are scored so far
};

// An answer in progress: also its symbols, and the results of the walk over it.
template <class States>
struct Lane : AnswerLane {
  std::vector<Symbol> symbols;              // the walked symbols, with the marks of profile paper; then kUnknown
  std::size_t n_symbols = 0;                // without that
  std::vector<Position<States>> positions;  // one before the first symbol, one after each; may hold more
};

// The number of answers that are walked at once: while one answer waits for memory, the others continue.
inline constexpr std::size_t kLanes = 32;

// Positions that a walk over a part of an answer found after the end of the part, until the next walk finds the same.
template <class States>
struct Crossing {
  std::size_t n;
  std::array<Position<States>, 1 + kMaxOrder> positions;  // from 1 on
};

template <class States>
struct Workspace {
  Workspace() {
    for (std::size_t number = 0; number < kLanes; ++number) lanes[number].number = number;
  }

  std::array<Lane<States>, kLanes> lanes;
  std::array<Crossing<States>, kLanes> crossing;
  RepeatFinder repeat_finder;
  ReachedStates reached;
  std::vector<typename States::Counts> contributions;  // contribution of each position to the raw fluency of the sets
  std::vector<std::uint16_t> partial;                  // where a state holds longer n-grams than the answer
  Cover<typename States::Levels> cover;
  std::vector<std::uint8_t> counted;  // which code points truthfulness counts
};

// For both forms of states.
struct Workspaces {
  Workspace<CompactStates> compact;
  Workspace<WideStates> wide;
};

}  // namespace pfgen
