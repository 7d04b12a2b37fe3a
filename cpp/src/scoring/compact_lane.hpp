// An answer in progress where the index is compact: it has at most kMostSymbols symbols, so the memory of all is fixed.
// Behind its symbols there is room for whole blocks of sixteen numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "index/states.hpp"
#include "pfgen/constants.hpp"
#include "scoring/lane_parts.hpp"
#include "system/simd.hpp"

namespace pfgen {

struct CompactLane : LaneParts {
  using States = CompactStates;
  using Symbol = std::uint16_t;
  using Stored = CompactStates::State;  // a copy, so that scoring need not look it up

  static constexpr std::size_t kMostSymbols = Lengths().limit + 3;  // with the marks of profile paper
  static constexpr std::size_t kRoom = (kMostSymbols + simd::kBytes) / simd::kBytes * simd::kBytes + simd::kBytes;
  static constexpr std::size_t kMostStates = kRoom + kMostSymbols / kMaxOrder * kPast;

  // The symbols follow as many zeros as repeats are compared with at once.
  std::array<Symbol, simd::kBytes + kRoom> zeros_and_symbols{};
  std::array<std::uint16_t, kRoom> counted;            // of each code point: all bits or none
  std::array<std::uint8_t, kMostStates> matched;       // the longest n-gram after so many symbols
  alignas(64) std::array<Stored, kMostStates> states;  // that holds it
  // Of each symbol, from number 1 on: whether it was there before (1 or 0), and behind which symbol the same pair of
  // symbols may have ended before (0: none).
  std::array<std::uint8_t, kRoom> repeated;
  std::array<std::uint8_t, kRoom> earlier;

  static std::size_t past(std::size_t part) noexcept { return kRoom + part * kPast; }
  static Stored stored(const Stored& state) noexcept { return state; }
  Symbol* symbols() noexcept { return zeros_and_symbols.data() + simd::kBytes; }
  const Symbol* symbols() const noexcept { return zeros_and_symbols.data() + simd::kBytes; }
};

}  // namespace pfgen
