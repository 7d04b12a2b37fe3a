// The layout of an index in its section, shared by builder and reader.
#pragma once

#include <cstddef>
#include <cstdint>

#include "index/states.hpp"
#include "pfgen/constants.hpp"
#include "pfgen/section.hpp"

namespace pfgen {

// The first bytes of an index.
struct SectionHeader {
  std::uint32_t n_sets;
  std::uint32_t n_symbols;
  std::uint32_t n_states;
  std::uint32_t is_wide;  // 0 or 1
  std::uint32_t n_slots;
  std::uint16_t target;  // 0, as the limit, for the usual lengths
  std::uint16_t limit;

  Lengths lengths() const noexcept { return limit == 0 ? Lengths() : Lengths{target, limit}; }
};
static_assert(sizeof(SectionHeader) == 24);

// More answers than any question has; it bounds the tables that are made of their number.
inline constexpr std::uint64_t kMaxAnswers = std::uint64_t{1} << 30;

// The header of each set in an index.
struct SetHeader {
  std::uint64_t n_answers;
  double baseline;  // mean fluency of the answers, before the division by itself; 0 if nothing can score
};

// Offsets from the beginning of an index; each part begins at a multiple of Section::kAlignment. None can overflow.
struct SectionShape {
  std::uint64_t sets, code_points, states, edges, end;

  explicit constexpr SectionShape(const SectionHeader& header) {
    const bool is_wide = header.is_wide != 0;
    const std::uint64_t state_bytes = is_wide ? sizeof(WideStates::State) : sizeof(CompactStates::State);
    const std::uint64_t edge_bytes = is_wide ? sizeof(WideStates::Edge) : sizeof(CompactStates::Edge);
    sets = Section::align(sizeof(SectionHeader));
    code_points = Section::align(sets + header.n_sets * std::uint64_t{sizeof(SetHeader)});
    states = Section::align(code_points + header.n_symbols * std::uint64_t{sizeof(std::uint32_t)});
    edges = Section::align(states + header.n_states * state_bytes);
    end = Section::align(edges + header.n_slots * edge_bytes);
  }
};

}  // namespace pfgen
