// Memory that one thread uses again for every answer that it scores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "formulas/averaging.hpp"
#include "index/states.hpp"
#include "scoring/cover.hpp"
#include "scoring/repeat_finder.hpp"

namespace pfgen {

// The position of a walk after a symbol: a copy of the state, so that scoring need not look it up. In the place of a
// base it has the length of the longest n-gram of the references that ends here.
template <class States>
struct Position {
  typename States::State state;

  std::uint32_t matched() const noexcept { return state.link_place().base; }
};

// One answer in progress: its symbols, the results of the walk over it, and its scores so far. Lanes are reused.
struct Lane {
  template <class States>
  std::vector<Position<States>>& positions() noexcept {
    if constexpr (std::is_same_v<States, CompactStates>) return compact_positions;
    else return wide_positions;
  }

  std::vector<char32_t> code_points;  // the part that the profile reads
  std::vector<Symbol> symbols;        // the walked symbols, with the marks of profile paper; then kUnknown
  std::size_t n_symbols = 0;          // without that
  // One before the first symbol, one after each; the memory may hold more.
  std::vector<Position<CompactStates>> compact_positions;
  std::vector<Position<WideStates>> wide_positions;
  std::vector<SetScore> sets;  // of the sets that are scored so far
};

// The number of answers that are walked at once: while one answer waits for memory, the others continue.
inline constexpr std::size_t kLanes = 32;

// Positions that a walk over a part of an answer found after the end of the part, until the next walk finds the same.
template <class States>
struct Crossing {
  std::size_t n;
  std::array<Position<States>, 1 + kMaxOrder> positions;  // from 1 on
};

// The buffers of GroupScorer for one form of states.
template <class States>
struct GroupBuffers {
  std::vector<typename States::Counts> contributions;  // contribution of each position to the raw fluency of the sets
  std::vector<std::uint8_t> partial;                   // where a state holds longer n-grams than the answer
  Cover<typename States::Levels> cover;
  std::array<Crossing<States>, kLanes> crossing;
};

struct Workspace {
  template <class States>
  GroupBuffers<States>& buffers() noexcept {
    if constexpr (std::is_same_v<States, CompactStates>) return compact;
    else return wide;
  }

  std::array<Lane, kLanes> lanes;
  RepeatFinder repeat_finder;
  GroupBuffers<CompactStates> compact;
  GroupBuffers<WideStates> wide;
  std::vector<std::uint8_t> counted;  // which code points truthfulness counts
};

}  // namespace pfgen
