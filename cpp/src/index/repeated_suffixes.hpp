// Finds repetitions in an answer: at each position, the length of the longest suffix that has occurred earlier.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "index/window.hpp"

namespace pfgen {

// Whether an answer has too many places of the same two symbols to compare them one by one; then its repeats are found
// by climbing to states (StateCounts).
inline constexpr std::size_t kMaxWindows = 256;
inline bool is_long(std::size_t n_symbols) { return n_symbols > kMaxWindows; }

// Keeps its memory from answer to answer. For answers that are not long.
template <std::size_t kWords>
class RepeatedSuffixes {
 public:
  // For symbols up to `n_symbols`.
  void prepare(std::size_t n_symbols) {
    symbol_seen_in_.assign(n_symbols + 1, 0);
    pairs_.assign(kPairs, {});
    answer_ = 0;
  }

  // Writes for each window of an answer the length of its longest beginning that is one of an earlier window too.
  void find(std::span<const Window<kWords>> windows, std::uint8_t* lengths) {
    ++answer_;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      std::uint32_t& seen_in = symbol_seen_in_[windows[i][0]];
      std::uint32_t length = seen_in == answer_ ? 1 : 0;
      seen_in = answer_;
      Pair& pair = pairs_[pair_of(windows[i])];
      std::uint32_t earlier = pair.answer == answer_ ? pair.latest : kNone;
      earlier_[i] = static_cast<std::uint16_t>(earlier);
      pair = {answer_, static_cast<std::uint16_t>(i)};
      for (; earlier != kNone && length < kMaxOrder; earlier = earlier_[earlier]) {
        length = std::max(length, common_length(windows[i], windows[earlier]));
      }
      lengths[i] = static_cast<std::uint8_t>(length);
    }
  }

 private:
  static constexpr std::uint16_t kNone = std::numeric_limits<std::uint16_t>::max();
  static constexpr int kPairBits = 11;
  static constexpr std::size_t kPairs = std::size_t{1} << kPairBits;

  // Where in which answer two symbols of this hash stood last.
  struct Pair {
    std::uint32_t answer = 0;
    std::uint16_t latest = 0;
  };

  static std::size_t pair_of(const Window<kWords>& window) {
    constexpr int kShift = Window<kWords>::kTopShift - Window<kWords>::kSymbolBits;
    return (window.words[0] >> kShift) * 0x9E3779B97F4A7C15U >> (64 - kPairBits);
  }

  std::vector<std::uint32_t> symbol_seen_in_;  // by symbol: the last answer that holds it
  std::vector<Pair> pairs_;
  std::array<std::uint16_t, kMaxWindows> earlier_{};  // for each window, the one before with a pair of the same hash
  std::uint32_t answer_ = 0;
};

}  // namespace pfgen
