// The memory layout of the states of an index and of the edges between them, in two forms with one interface.
//
// Both count for four sets; missing sets are zeros. CompactStates is the usual form: a state takes 16 bytes, four fill
// a cache line. WideStates is for larger indexes: many answers, millions of states. Both borrow their bytes
// (docs/index_format.md).
//
// The edges of a state lie at its base: the edge of a symbol has the slot base + symbol, if any. No two states that
// have edges share a base, so the symbol that a slot holds tells whose edge it is. The root has base 0, and an edge for
// every symbol.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "index/alphabet.hpp"
#include "system/prefetch.hpp"

namespace pfgen {

using StateId = std::uint32_t;
inline constexpr StateId kRoot = 0;
inline constexpr int kMaxOrder = 10;

// The sets of one index; a question with more of them has several indexes.
inline constexpr std::size_t kSetsPerIndex = 4;
template <class T>
using PerSet = std::array<T, kSetsPerIndex>;

// Where a walk may go on: a state, and the base of its edges.
struct Place {
  StateId state = kRoot;
  std::uint32_t base = 0;
};

// A state as it is built.
struct StateContent {
  Place link;
  std::uint32_t depth;
  std::uint32_t link_depth;
  PerSet<std::uint32_t> cumulative;
  PerSet<std::uint32_t> levels;
};

// Divides a multiple of `divisor`, which is 1 to kMaxOrder, much faster than the division of the processor. For another
// divisor the result is meaningless, but harmless.
inline std::uint32_t divide_exactly(std::uint32_t multiple, std::uint32_t divisor) noexcept {
  static constexpr std::array<std::uint64_t, 16> kInverses = [] {
    std::array<std::uint64_t, 16> inverses{};
    for (std::uint64_t d = 1; d <= kMaxOrder; ++d) inverses[d] = ((std::uint64_t{1} << 32) + d - 1) / d;
    return inverses;
  }();
  return static_cast<std::uint32_t>(multiple * kInverses[divisor & 15] >> 32);
}

// Sums of frequencies up to 65,535, levels up to 15; up to 2^20 states and slots, and fewer than 2^16 symbols.
class CompactStates {
 public:
  using Counts = std::uint64_t;  // of the four sets, 16 bits each from the lowest; added and subtracted as a whole
  struct Levels {
    std::uint16_t of_sets = 0;  // 4 bits each from the lowest

    std::uint32_t operator[](std::size_t set) const noexcept { return of_sets >> 4 * set & kMaxLevel; }
  };
  static constexpr std::uint32_t kMaxCount = 0xFFFF;
  static constexpr std::uint32_t kMaxLevel = 15;
  static constexpr std::uint32_t kMaxStates = 1U << 20;
  static constexpr std::uint32_t kMaxSlots = 1U << 20;
  static constexpr std::uint32_t kMaxSymbol = 0xFFFF - 1;  // an edge of all ones means no edge

  // A place, 20 bits for its state and 20 for its base from the lowest; 24 bits above it.
  using PlaceBits = std::uint64_t;
  static constexpr int kAbovePlace = 40;
  static constexpr PlaceBits bits_of(Place place) noexcept { return PlaceBits{place.base} << 20 | place.state; }
  static constexpr Place place_of(PlaceBits bits) noexcept {
    return {static_cast<StateId>(bits & (kMaxStates - 1)), static_cast<std::uint32_t>(bits >> 20 & (kMaxSlots - 1))};
  }

  struct State {
    Counts counts;   // the document frequencies of the longest n-gram and of all its suffixes
    PlaceBits link;  // above it: depth and depth of the link, 4 bits each; levels, 16

    Place link_place() const noexcept { return place_of(link); }
    std::uint32_t depth() const noexcept { return static_cast<std::uint32_t>(link >> kAbovePlace & 15); }
    std::uint32_t link_depth() const noexcept { return static_cast<std::uint32_t>(link >> (kAbovePlace + 4) & 15); }
    Levels levels() const noexcept { return {static_cast<std::uint16_t>(link >> 48)}; }
    std::uint32_t cumulative(std::size_t set) const noexcept {
      return static_cast<std::uint32_t>(counts >> 16 * set & kMaxCount);
    }
  };
  static_assert(sizeof(State) == 16);
  struct Edge {
    PlaceBits target;  // above it: symbol

    Place place() const noexcept { return place_of(target); }
    Symbol symbol() const noexcept { return static_cast<Symbol>(target >> kAbovePlace); }
  };
  static_assert(sizeof(Edge) == 8);
  static constexpr Edge kNoEdge{PlaceBits{kMaxSymbol + 1} << kAbovePlace};

  static State state(const StateContent& content) noexcept {
    State state{0, bits_of(content.link) | PlaceBits{content.depth} << kAbovePlace |
                       PlaceBits{content.link_depth} << (kAbovePlace + 4)};
    for (std::size_t set = 0; set < kSetsPerIndex; ++set) {
      state.counts |= Counts{content.cumulative[set]} << 16 * set;
      state.link |= std::uint64_t{content.levels[set]} << (48 + 4 * set);
    }
    return state;
  }
  static Edge edge(Symbol symbol, Place target) noexcept {
    return {bits_of(target) | PlaceBits{symbol} << kAbovePlace};
  }
  // The target of the edge if the edge has the symbol, otherwise the link of the state. Without branches, which would
  // be unpredictable.
  static Place next(const State& state, Edge edge, Symbol symbol, bool& is_edge) noexcept {
    is_edge = edge.symbol() == symbol;
    return place_of(is_edge ? edge.target : state.link);
  }

  // `counts` * n / divisor, exactly; all are multiples of the divisor, and n is at most that. To divide by an odd
  // number is to multiply by its inverse modulo 2^16, and two counts are multiplied at once.
  static Counts share_of(Counts counts, std::uint32_t n, std::uint32_t divisor) noexcept {
    struct Inverse {
      std::uint32_t of_odd, shift;
    };
    static constexpr std::array<Inverse, 16> kInverses = [] {
      std::array<Inverse, 16> inverses{};
      for (std::uint32_t d = 1; d <= kMaxOrder; ++d) {
        const auto shift = static_cast<std::uint32_t>(std::countr_zero(d));
        const std::uint32_t odd = d >> shift;
        std::uint32_t inverse = odd;  // right in 3 bits, then in 6, 12, 24
        for (int i = 0; i < 3; ++i) inverse *= 2 - odd * inverse;
        inverses[d] = {inverse & kMaxCount, shift};
      }
      return inverses;
    }();
    constexpr Counts kEven = 0x0000FFFF0000FFFFU;
    const auto [of_odd, shift] = kInverses[divisor & 15];
    const Counts factor = n * of_odd & kMaxCount;
    const Counts shifted = counts >> shift;
    return ((shifted & kEven) * factor & kEven) | ((shifted >> 16 & kEven) * factor & kEven) << 16;
  }

  CompactStates() = default;
  CompactStates(const State* states, const Edge* edges) : states_(states), edges_(edges) {}

  const State& operator[](StateId state) const noexcept { return states_[state]; }
  const Edge& edge(std::uint32_t slot) const noexcept { return edges_[slot]; }

 private:
  const State* states_ = nullptr;
  const Edge* edges_ = nullptr;
};

// Anything that fits 32 bits.
class WideStates {
 public:
  struct Levels {
    PerSet<std::uint32_t> of_sets{};

    std::uint32_t operator[](std::size_t set) const noexcept { return of_sets[set]; }
    Levels masked(bool holds) const noexcept { return holds ? *this : Levels{}; }
  };
  struct Counts {
    PerSet<std::uint32_t> of_sets{};

    Counts& operator+=(const Counts& other) noexcept {
      for (std::size_t set = 0; set < kSetsPerIndex; ++set) of_sets[set] += other.of_sets[set];
      return *this;
    }
    Counts& operator-=(const Counts& other) noexcept {
      for (std::size_t set = 0; set < kSetsPerIndex; ++set) of_sets[set] -= other.of_sets[set];
      return *this;
    }
  };
  class Sums;

  struct State {
    Counts counts;
    Levels levels_of_sets;
    Place link;
    std::uint32_t depth_of_longest;
    std::uint32_t depth_of_link;

    Place link_place() const noexcept { return link; }
    std::uint32_t depth() const noexcept { return depth_of_longest; }
    std::uint32_t link_depth() const noexcept { return depth_of_link; }
    const Levels& levels() const noexcept { return levels_of_sets; }
    std::uint32_t cumulative(std::size_t set) const noexcept { return counts.of_sets[set]; }
  };
  static_assert(sizeof(State) == 48);
  struct Edge {
    Place target;
    Symbol of_symbol;
    std::uint32_t zero;

    Place place() const noexcept { return target; }
    Symbol symbol() const noexcept { return of_symbol; }
  };
  static_assert(sizeof(Edge) == 16);
  static constexpr Edge kNoEdge{{}, ~Symbol{0}, 0};

  static State state(const StateContent& content) noexcept {
    return {{content.cumulative}, {content.levels}, content.link, content.depth, content.link_depth};
  }
  static Edge edge(Symbol symbol, Place target) noexcept { return {target, symbol, 0}; }
  static Place next(const State& state, const Edge& edge, Symbol symbol, bool& is_edge) noexcept {
    is_edge = edge.of_symbol == symbol;
    const std::uint32_t all_if_edge = 0U - std::uint32_t{is_edge};
    return {state.link.state ^ ((state.link.state ^ edge.target.state) & all_if_edge),
            state.link.base ^ ((state.link.base ^ edge.target.base) & all_if_edge)};
  }
  static Counts share_of(Counts counts, std::uint32_t n, std::uint32_t divisor) noexcept {
    for (std::uint32_t& count : counts.of_sets) count = n * divide_exactly(count, divisor);
    return counts;
  }

  WideStates() = default;
  WideStates(const State* states, const Edge* edges) : states_(states), edges_(edges) {}

  const State& operator[](StateId state) const noexcept { return states_[state]; }
  const Edge& edge(std::uint32_t slot) const noexcept { return edges_[slot]; }

 private:
  const State* states_ = nullptr;
  const Edge* edges_ = nullptr;
};

class WideStates::Sums {
 public:
  void add(const Counts& counts) noexcept {
    for (std::size_t set = 0; set < kSetsPerIndex; ++set) sums_[set] += counts.of_sets[set];
  }
  std::uint64_t operator[](std::size_t set) const noexcept { return sums_[set]; }

 private:
  PerSet<std::uint64_t> sums_{};
};

// The document frequencies of the suffixes of up to `length` symbols, of which the longest belongs to `state`: all
// n-grams of a state are equally frequent.
template <class States>
typename States::Counts counts_up_to(const States& states, const typename States::State& state,
                                     std::uint32_t length) noexcept {
  const typename States::Counts& linked = states[state.link_place().state].counts;
  typename States::Counts of_state = state.counts;
  of_state -= linked;
  const std::uint32_t link_depth = state.link_depth();
  auto counts = States::share_of(of_state, length - link_depth, state.depth() - link_depth);
  counts += linked;
  return counts;
}

// The state of a walk over a text: the longest suffix of the read symbols that is an n-gram of the references.
struct Cursor {
  Place place;
  std::uint32_t matched = 0;  // its length, 0..kMaxOrder
};

// Reads one more symbol: shortens the suffix until a suffix has an edge for the symbol. The root has an edge for every
// symbol.
template <class States>
Cursor read_symbol(const States& states, Cursor cursor, Symbol symbol) noexcept {
  for (bool is_edge = false; !is_edge;) {
    const auto& state = states[cursor.place.state];
    cursor.matched = std::min(cursor.matched, state.depth());
    cursor.place = States::next(state, states.edge(cursor.place.base + symbol), symbol, is_edge);
  }
  cursor.matched = std::min(cursor.matched + 1, states[cursor.place.state].depth());
  return cursor;
}

// Of "^answer$", the 3-grams that hold a mark (docs/scoring.md, section 3). Calls `put(end, state)` for those that the
// references contain; each ends with the symbol of the number `end`, the last with the one behind the answer. `^` and
// `$` are ordinary characters here. Where an answer is cut, its assumed end is after all positions that can raise a
// score.
template <class States, class Symbols, class Put>
void for_each_marked_trigram(const Alphabet& alphabet, const States& states, const Symbols& symbols, const Put& put) {
  const std::size_t n = symbols.size();
  const auto look_up = [&](std::size_t last, Symbol a, Symbol b, Symbol c) {
    const Cursor end = read_symbol(states, read_symbol(states, read_symbol(states, {}, a), b), c);
    if (end.matched >= 3) put(last, states[end.place.state]);
  };
  if (n == 0) return;
  const Symbol begin = alphabet.symbol_of(U'^');
  const Symbol end = alphabet.symbol_of(U'$');
  if (begin != kUnknown) look_up(1, begin, symbols[0], n == 1 ? end : symbols[1]);
  if (n >= 2 && end != kUnknown) look_up(n, symbols[n - 2], symbols[n - 1], end);
}

}  // namespace pfgen
