// Counts how many sets contain each row, for 64 rows at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace pfgen {

// Counts are binary, with separate words for each digit of all rows. A digit takes two more sets at a time, and
// hands on its carries: so a set costs about one addition of a digit, however many digits there are.
class SlicedCounts {
 public:
  explicit SlicedCounts(std::size_t n_words) : n_words_(n_words) {}

  // Counts each row of a set `weight` times; bit i of its words is row i.
  void add(std::span<const std::uint64_t> set, std::uint32_t weight) {
    for (std::size_t digit = 0; weight >> digit != 0; ++digit) {
      if ((weight >> digit & 1) != 0) add(set.data(), digit);
    }
  }

  // Calls `work(row, counts)` for all rows, eight by eight, and resets them. Counts are below 2^32.
  template <class Work>
  void take(const Work& work) {
    const std::vector<std::uint64_t> nothing(n_words_);
    for (std::size_t digit = 0; digit < digits_.size(); ++digit) {
      if (digits_[digit].is_waiting) add(nothing.data(), digit);
    }
    for (std::size_t word = 0; word < n_words_; ++word) {
      for (std::size_t byte = 0; byte < 8; ++byte)
        work(64 * word + 8 * byte, counts_of(word, static_cast<int>(8 * byte)));
    }
    for (Digit& digit : digits_) digit.sum.assign(n_words_, 0);
  }

 private:
  // The bytes of a word are 0 or 1, as the bits of `bits` are.
  static constexpr std::array<std::uint64_t, 256> kSpread = [] {
    std::array<std::uint64_t, 256> spread{};
    for (std::size_t bits = 0; bits < 256; ++bits) {
      for (std::size_t i = 0; i < 8; ++i) spread[bits] |= std::uint64_t{bits >> i & 1} << 8 * i;
    }
    return spread;
  }();

  struct Digit {
    explicit Digit(std::size_t n_words) : sum(n_words), waiting(n_words), carry(n_words) {}
    std::vector<std::uint64_t> sum, waiting, carry;
    bool is_waiting = false;
  };

  void add(const std::uint64_t* set, std::size_t at) {
    while (digits_.size() <= at) digits_.emplace_back(n_words_);
    Digit& digit = digits_[at];
    digit.is_waiting = !digit.is_waiting;
    if (digit.is_waiting) {
      std::copy_n(set, n_words_, digit.waiting.begin());
      return;
    }
    std::uint64_t* sum = digit.sum.data();
    std::uint64_t* carry = digit.carry.data();
    const std::uint64_t* waiting = digit.waiting.data();
    std::uint64_t carries = 0;
    for (std::size_t word = 0; word < n_words_; ++word) {
      const std::uint64_t either = sum[word] ^ waiting[word];
      carry[word] = (sum[word] & waiting[word]) | (either & set[word]);
      sum[word] = either ^ set[word];
      carries |= carry[word];
    }
    if (carries != 0) add(carry, at + 1);
  }

  std::array<std::uint32_t, 8> counts_of(std::size_t word, int shift) const {
    std::array<std::uint32_t, 8> counts{};
    for (std::size_t first = 0; first < digits_.size(); first += 8) {
      std::uint64_t bytes = 0;
      for (std::size_t digit = first; digit < std::min(first + 8, digits_.size()); ++digit) {
        bytes |= kSpread[digits_[digit].sum[word] >> shift & 0xFF] << (digit - first);
      }
      for (std::size_t i = 0; i < 8; ++i) counts[i] |= static_cast<std::uint32_t>(bytes >> 8 * i & 0xFF) << first;
    }
    return counts;
  }

  std::size_t n_words_;
  std::deque<Digit> digits_;  // existing digits keep their addresses when digits are added
};

}  // namespace pfgen
