// Finds the n-grams that an answer repeats: they count once (docs/scoring.md, section 2).
//
// If an n-gram occurred earlier in the answer, so did its suffixes. So only the longest earlier n-gram at each position
// is needed. Most of them are single symbols, which one comparison finds. Longer n-grams are searched only if the last
// two symbols occurred together earlier.
//
// In an answer of more symbols than an 8-bit number counts, the states that it has reached tell what it repeats.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "index/states.hpp"
#include "pfgen/constants.hpp"

namespace pfgen {

// Its memory is used again for every answer.
class RepeatFinder {
 public:
  // At `position` ends an n-gram of `length` symbols, 2 or more, that was there before, and no longer one.
  struct Repeat {
    std::uint8_t position;
    std::uint8_t length;
  };

  static constexpr std::size_t kMostSymbols = std::numeric_limits<std::uint8_t>::max();

  // Reads at most kMostSymbols symbols up to `max_symbol`.
  void read(std::span<const Symbol> symbols, Symbol max_symbol);
  // Where nothing counts as repeated.
  void read_nothing(std::size_t n) {
    is_repeated_.assign(n, 0);
    candidates_.clear();
  }

  // Whether the symbol of each position was there before: 0 or 1.
  std::span<const std::uint8_t> is_repeated() const noexcept { return is_repeated_; }

  // The repeats of two or more symbols that can matter: `matched(i)` is the length of the longest n-gram at i that the
  // references contain. The result is valid until the next call.
  template <class Matched>
  std::span<const Repeat> longer_ones(std::span<const Symbol> symbols, const Matched& matched) {
    repeats_.clear();
    for (const std::uint8_t i : candidates_) {
      const bool goes_on = !repeats_.empty() && repeats_.back().position + 1 == i;
      const std::uint32_t before = goes_on ? repeats_.back().length : 1;
      const std::uint32_t length = longest(symbols, i, std::min<std::uint32_t>(matched(i), before + 1));
      if (length >= 2) repeats_.push_back({i, static_cast<std::uint8_t>(length)});
    }
    return repeats_;
  }

 private:
  static constexpr std::size_t kPairSlots = 1024;

  static std::size_t pair_slot(Symbol first, Symbol second) noexcept {
    static_assert(kPairSlots == std::size_t{1} << (32 - 22));
    return (first * 0x9E3779B1U + second * 0x85EBCA6BU) >> 22;
  }

  // The longest n-gram at i, of at most `most` symbols, that was there before.
  std::uint32_t longest(std::span<const Symbol> symbols, std::size_t i, std::uint32_t most) const noexcept {
    std::uint32_t longest = 1;
    for (std::size_t at = earlier_[i]; at != 0 && longest < most; at = earlier_[at - 1]) {
      const std::size_t other = at - 1;
      std::uint32_t length = 0;
      while (length < most && length <= other && symbols[other - length] == symbols[i - length]) ++length;
      longest = std::max(longest, length);
    }
    return longest;
  }

  std::vector<std::uint8_t> is_repeated_;
  std::vector<std::uint8_t> candidates_;         // positions of pairs that may have been there before
  std::array<std::uint8_t, kPairSlots> latest_;  // where a pair of symbols stood last, plus 1
  std::vector<std::uint8_t> earlier_;            // where the pair of a position stood before, plus 1
  std::vector<std::uint16_t> seen_in_;           // number of the answer that a symbol was last seen in
  std::uint16_t n_answers_ = 0;
  std::vector<Repeat> repeats_;
};

static_assert(Lengths().limit + 2 <= RepeatFinder::kMostSymbols, "usual answers are not long");

// How long the n-grams of each state are that an answer has reached. Its memory is used again for every answer.
class ReachedStates {
 public:
  // Begins another answer.
  void begin(std::size_t n_states) {
    if (lengths_.size() < n_states || ++n_answers_ >= kMostAnswers) {
      lengths_.assign(std::max(lengths_.size(), n_states), 0);
      n_answers_ = 1;
    }
  }
  // A state is reached with an n-gram of `length` symbols: of those that end here, how many symbols the longest had
  // that it was reached with before; 0 for none.
  std::uint32_t put(StateId state, std::uint32_t length) noexcept {
    std::uint32_t& reached = lengths_[state];
    const std::uint32_t before = reached / kLengths == n_answers_ ? reached % kLengths : 0;
    reached = n_answers_ * kLengths + std::max(before, length);
    return std::min(before, length);
  }

 private:
  static constexpr std::uint32_t kLengths = kMaxOrder + 1;
  static constexpr std::uint32_t kMostAnswers = std::numeric_limits<std::uint32_t>::max() / kLengths;

  std::vector<std::uint32_t> lengths_;  // of each state: the answer that reached it last, and the length
  std::uint32_t n_answers_ = 0;
};

inline void RepeatFinder::read(std::span<const Symbol> symbols, Symbol max_symbol) {
  if (seen_in_.size() <= max_symbol || ++n_answers_ == 0) {
    seen_in_.assign(std::max<std::size_t>(seen_in_.size(), max_symbol + std::size_t{1}), 0);
    n_answers_ = 1;
  }
  const std::size_t n = symbols.size();
  latest_.fill(0);
  is_repeated_.resize(n);
  earlier_.resize(n);
  candidates_.resize(n);
  // Local copies of constants: the compiler must assume that writing a byte may change any other object.
  std::uint8_t* const is_repeated = is_repeated_.data();
  std::uint8_t* const earlier = earlier_.data();
  std::uint8_t* const candidates = candidates_.data();
  std::uint8_t* const latest = latest_.data();
  std::uint16_t* const seen_in = seen_in_.data();
  const std::uint16_t n_answers = n_answers_;
  std::size_t n_candidates = 0;
  unsigned was_repeated = 0;  // whether the previous symbol was repeated
  Symbol before = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Symbol symbol = symbols[i];
    const unsigned repeated = seen_in[symbol] == n_answers;
    seen_in[symbol] = n_answers;
    const std::size_t slot = pair_slot(before, symbol);
    const std::uint8_t at = latest[slot];
    latest[slot] = static_cast<std::uint8_t>(i + 1);
    earlier[i] = at;
    is_repeated[i] = static_cast<std::uint8_t>(repeated);
    candidates[n_candidates] = static_cast<std::uint8_t>(i);
    n_candidates += repeated & was_repeated & unsigned{at != 0};
    was_repeated = repeated;
    before = symbol;
  }
  candidates_.resize(n_candidates);
}

}  // namespace pfgen
