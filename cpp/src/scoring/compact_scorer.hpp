// Scores answers in up to four sets, which share a compact index, with several numbers at a time and few branches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "index/references.hpp"
#include "pfgen/constants.hpp"
#include "scoring/lanes.hpp"
#include "scoring/repeats.hpp"
#include "system/simd.hpp"

namespace pfgen {

// An answer in progress. It has at most kMostSymbols symbols, so the memory of all is fixed; behind its symbols there
// is room for whole blocks of sixteen numbers.
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
  // Of each symbol, from number 1 on: what SeenSymbols tells.
  std::array<std::uint8_t, kRoom> repeated;
  std::array<std::uint8_t, kRoom> earlier;

  static std::size_t past(std::size_t part) noexcept { return kRoom + part * kPast; }
  static Stored stored(const Stored& state) noexcept { return state; }
  Symbol* symbols() noexcept { return zeros_and_symbols.data() + simd::kBytes; }
  const Symbol* symbols() const noexcept { return zeros_and_symbols.data() + simd::kBytes; }
};

// Its memory is used again for every answer.
struct CompactMemory {
  static constexpr std::size_t kRoom = CompactLane::kRoom;

  SeenSymbols seen;
  std::array<std::uint64_t, kRoom> contributions;
  std::array<std::uint8_t, kRoom> depths;
  std::array<std::uint16_t, kRoom> trigrams;  // levels of the 3-gram that ends with each symbol
  std::array<std::uint16_t, kRoom> levels;    // of each code point
  Repeats<CompactStates> repeats;
};
static_assert(CompactLane::kMostSymbols <= SeenSymbols::kMostSymbols);

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
  PerSet<double> fluency(const CompactLane& lane, const CompactMemory& memory) const;
  PerSet<double> truthfulness(const CompactLane& lane, CompactMemory& memory) const;

  const SetGroup* group_;
  const CompactStates* states_;
  bool is_paper_;
};

}  // namespace pfgen
