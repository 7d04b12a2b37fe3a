// The n-grams (orders 1..10) of up to four reference sets of one question, as one automaton.
//
// A state is a group of n-grams that are suffixes of one another and end at the same places of the
// references. So they share their document frequencies and their continuations. Every n-gram of the references
// belongs to exactly one state. The longest n-gram of a state has `depth` symbols, the next shorter suffix
// belongs to the state `link`. State 0 is the root (the empty n-gram).
//
// An index is a view of bytes that a SectionBuilder made, or of a file with such bytes (docs/index_format.md). It is
// immutable, so any number of threads may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "index/alphabet.hpp"
#include "index/checksum.hpp"
#include "index/section_shape.hpp"
#include "index/states.hpp"

namespace pfgen {

class NgramIndex {
 public:
  // Reads the index at the beginning of `bytes`, which the caller keeps, and adds its bytes to `sum` unless that is
  // null. Throws IndexFormatError if a number in it would lead outside of it; with `is_right`, states and edges are not
  // read for that. The counts are not checked.
  NgramIndex(std::span<const std::byte> bytes, RunningChecksum* sum, bool is_right);

  std::size_t n_bytes() const noexcept { return n_bytes_; }
  const Alphabet& alphabet() const noexcept { return alphabet_; }
  std::size_t n_sets() const noexcept { return sets_.size(); }
  std::size_t n_states() const noexcept { return n_states_; }
  std::uint64_t n_answers(std::size_t set) const noexcept { return sets_[set].n_answers; }
  double baseline(std::size_t set) const noexcept { return sets_[set].baseline; }

  const Lengths& lengths() const noexcept { return lengths_; }
  bool is_wide() const noexcept { return is_wide_; }
  template <class States>
  const States& states() const noexcept {
    if constexpr (std::is_same_v<States, CompactStates>) return compact_;
    else return wide_;
  }
  // The document frequencies of the n-grams of one symbol, by symbol; zeros for kUnknown.
  template <class States>
  std::span<const typename States::Counts> symbol_counts() const noexcept {
    if constexpr (std::is_same_v<States, CompactStates>) return compact_symbol_counts_;
    else return wide_symbol_counts_;
  }

 private:
  std::size_t n_bytes_ = 0;
  Alphabet alphabet_;
  std::size_t n_states_ = 0;
  std::span<const SetHeader> sets_;
  Lengths lengths_;
  bool is_wide_ = false;
  CompactStates compact_;
  WideStates wide_;
  std::vector<CompactStates::Counts> compact_symbol_counts_;
  std::vector<WideStates::Counts> wide_symbol_counts_;
};

}  // namespace pfgen
