// The n-grams (orders 1..10) of all reference sets of one question, as one automaton.
//
// A state is a group of n-grams that are suffixes of one another and end at the same places of the
// references; so they share their document frequencies, and what follows them. Every n-gram of the references
// belongs to exactly one state. The longest n-gram of a state has `depth` symbols, the next shorter suffix
// belongs to the state `link`. State 0 is the root (the empty n-gram).
//
// Immutable after construction, so any number of threads may read it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pfgen/alphabet.hpp"

namespace pfgen {

inline constexpr int kMaxOrder = 10;

using StateId = std::uint32_t;
inline constexpr StateId kRoot = 0;

// Where a walk over a text stands: the longest suffix of what was read that is an n-gram of the references.
struct Cursor {
  StateId state = kRoot;
  std::uint32_t matched = 0;  // its length, 0..kMaxOrder
};

class NgramIndex {
 public:
  // Throws CompileError if the references hold more code points than the index can number.
  explicit NgramIndex(std::span<const AnswerSet> sets);

  const Alphabet& alphabet() const noexcept { return alphabet_; }
  std::size_t n_sets() const noexcept { return n_sets_; }
  std::size_t n_states() const noexcept { return states_.size(); }
  std::size_t n_bytes() const noexcept;

  // Reads one more symbol.
  Cursor step(Cursor cursor, Symbol symbol) const noexcept;

  // Asks for the memory of a state that will be needed soon.
  void prefetch([[maybe_unused]] StateId state) const noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(&states_[state]);
    __builtin_prefetch(&sums_[state * (1 + n_sets_)]);
#endif
  }

  // The state that holds the suffix of `length` symbols, at least 1; `state` holds one at least that long.
  StateId suffix_state(StateId state, std::uint32_t length) const noexcept {
    while (states_[state].link_depth >= length) state = states_[state].link;
    return state;
  }

  // Per set: number of reference answers with the n-grams of the state.
  const std::uint32_t* document_frequency(StateId state) const noexcept { return &frequencies_[state * n_sets_]; }
  // Per set: sum of the document frequencies of the state's longest n-gram and of all its suffixes.
  const std::uint32_t* cumulative(StateId state) const noexcept { return &sums_[state * (1 + n_sets_) + 1]; }
  // The state of the 3-gram that ends all n-grams of the state of length 3 and more; the root if there are none.
  StateId trigram_state(StateId state) const noexcept { return sums_[state * (1 + n_sets_)]; }
  std::uint32_t depth(StateId state) const noexcept { return states_[state].depth; }

 private:
  template <std::size_t kWords>
  friend class IndexBuilder;

  // 16 bytes, so that no state lies across two cache lines.
  struct alignas(16) State {
    Symbol likely_symbol : 21 = kUnknown;  // the most frequent continuation, inside the state for speed
    std::uint32_t depth : 4 = 0;
    std::uint32_t link_depth : 4 = 0;
    StateId likely_target = kRoot;
    StateId link = kRoot;
    std::uint32_t edges : 27 = 0;      // first slot of the hash table of all other continuations
    std::uint32_t edges_log2 : 5 = 0;  // its size; one empty slot where there are none
  };
  static_assert(sizeof(State) == 16 && kEndMark < (1U << 21) && kMaxOrder < 16);
  static constexpr std::size_t kMaxEdgeSlots = std::size_t{1} << 27;

  struct Edge {
    Symbol symbol = kUnknown;
    StateId target = kRoot;
  };

  static std::uint32_t slot_of(Symbol symbol, std::uint32_t log2) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(symbol * 0x9E3779B1U) >> (32 - log2));
  }
  StateId find_edge(const State& state, Symbol symbol) const noexcept;

  Alphabet alphabet_;
  std::size_t n_sets_;
  std::vector<State> states_;  // most frequent first, so that the hot ones share cache lines
  std::vector<Edge> edges_;    // slot 0 is the empty table
  std::vector<std::uint32_t> sums_;         // per state: trigram state, cumulative[n_sets]
  std::vector<std::uint32_t> frequencies_;  // per state: document_frequency[n_sets]
};

inline StateId NgramIndex::find_edge(const State& state, Symbol symbol) const noexcept {
  const std::uint32_t mask = (1U << state.edges_log2) - 1;
  for (std::uint32_t slot = slot_of(symbol, state.edges_log2);; slot = (slot + 1) & mask) {
    const Edge& edge = edges_[state.edges + slot];
    if (edge.symbol == symbol) return edge.target;
    if (edge.symbol == kUnknown) return kRoot;
  }
}

inline Cursor NgramIndex::step(Cursor cursor, Symbol symbol) const noexcept {
  if (symbol == kUnknown) return {};
  for (;;) {
    const State& state = states_[cursor.state];
    const StateId target = state.likely_symbol == symbol ? state.likely_target : find_edge(state, symbol);
    // A state of depth 10 continues as its suffix of length 9 does.
    if (target != kRoot) return {target, std::min<std::uint32_t>(cursor.matched, kMaxOrder - 1) + 1};
    if (cursor.state == kRoot) return {};
    cursor = {state.link, state.link_depth};
  }
}

}  // namespace pfgen
