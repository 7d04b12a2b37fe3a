// An answer in progress where the index is wide, and the memory that one thread uses again for every such answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "index/states.hpp"
#include "scoring/cover.hpp"
#include "scoring/lane_parts.hpp"
#include "scoring/repeat_finder.hpp"

namespace pfgen {

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
};

struct WideMemory {
  RepeatFinder repeat_finder;
  ReachedStates reached;
  std::vector<WideStates::Counts> contributions;  // contribution of each position to the raw fluency of the sets
  std::vector<std::uint16_t> partial;             // where a state holds longer n-grams than the answer
  Cover cover;
};

}  // namespace pfgen
