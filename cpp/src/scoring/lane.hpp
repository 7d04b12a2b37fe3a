// One answer on its way: what is read of it, what the walk over it found, and its scores so far. Lanes are used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "formulas/averaging.hpp"
#include "index/states.hpp"

namespace pfgen {

// Where a walk stood after a symbol: a copy of the state, so that nobody has to look for it again. The walk has gone
// on, so in the place of a base it holds the length of the longest n-gram of the references that ends here.
template <class States>
struct Position {
  typename States::State state;

  std::uint32_t matched() const noexcept { return state.link_place().base; }
};

struct Lane {
  template <class States>
  std::vector<Position<States>>& positions() noexcept {
    if constexpr (std::is_same_v<States, CompactStates>) return compact_positions;
    else return wide_positions;
  }

  std::vector<char32_t> code_points;  // as far as the profile looks
  std::vector<Symbol> symbols;        // what is walked, with the marks of profile paper; then kUnknown
  std::size_t n_symbols = 0;          // without that
  // One before the first symbol, one after each; the memory may hold more.
  std::vector<Position<CompactStates>> compact_positions;
  std::vector<Position<WideStates>> wide_positions;
  std::vector<SetScore> sets;  // of the sets that are scored so far
};

// Answers that are walked side by side: while one waits for memory, the others go on.
inline constexpr std::size_t kLanes = 32;

}  // namespace pfgen
