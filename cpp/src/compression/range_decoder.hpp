// The range decoder of LZMA: one bit after another, each by the probability that it has had so far.
//
// What a bit of a tree is, nobody can predict, so those are decoded without a branch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pfgen {

using Probability = std::uint16_t;  // that a bit is 0, in 2048ths
inline constexpr Probability kEven = 1024;

class RangeDecoder {
 public:
  static constexpr std::size_t kHeadBytes = 5;

  // `head` are five bytes, the first of which is 0; the rest is read from behind them.
  explicit RangeDecoder(const std::uint8_t* head) : next_(head + 1) {
    for (int i = 0; i < 4; ++i) code_ = code_ << 8 | *next_++;
  }

  const std::uint8_t* next() const noexcept { return next_; }
  bool is_at_end() const noexcept { return code_ == 0; }
  void normalize() noexcept {
    if (range_ < kTop) {
      range_ <<= 8;
      code_ = code_ << 8 | *next_++;
    }
  }

  // A bit that is often the same as the last.
  bool bit(Probability& probability) noexcept {
    normalize();
    const std::uint32_t bound = (range_ >> kBits) * probability;
    if (code_ < bound) {
      range_ = bound;
      probability = static_cast<Probability>(probability + ((kOne - probability) >> kShift));
      return false;
    }
    range_ -= bound;
    code_ -= bound;
    probability = static_cast<Probability>(probability - (probability >> kShift));
    return true;
  }

  // A bit as a mask: 0 or all ones.
  std::uint32_t mask(Probability& probability) noexcept {
    normalize();
    const std::uint32_t bound = (range_ >> kBits) * probability;
    const std::uint32_t is_one = 0U - static_cast<std::uint32_t>(code_ >= bound);
    range_ = bound + (is_one & (range_ - 2 * bound));
    code_ -= is_one & bound;
    // probability -= probability >> kShift for a one, += (kOne - probability) >> kShift for a zero.
    const auto offset = static_cast<std::int32_t>(~is_one) & (kRound - kOne);
    probability = static_cast<Probability>(probability - ((probability + offset) >> kShift));
    return is_one;
  }

  // A number below 2**n_bits, from its highest bit; `tree` has as many probabilities.
  template <unsigned n_bits>
  std::uint32_t tree(Probability* tree) noexcept {
    std::uint32_t node = 1;
    for (unsigned i = 0; i < n_bits; ++i) node = 2 * node - mask(tree[node]);
    return node - (1U << n_bits);
  }

  // The same from its lowest bit.
  std::uint32_t reverse_tree(Probability* tree, unsigned n_bits) noexcept {
    std::uint32_t node = 1;
    std::uint32_t number = 0;
    for (unsigned i = 0; i < n_bits; ++i) {
      const std::uint32_t is_one = mask(tree[node]);
      node = 2 * node - is_one;
      number |= is_one & 1U << i;
    }
    return number;
  }

  // Bits that are as often 0 as 1.
  std::uint32_t direct(unsigned n_bits) noexcept {
    std::uint32_t number = 0;
    for (unsigned i = 0; i < n_bits; ++i) {
      normalize();
      range_ >>= 1;
      const std::uint32_t is_one = 0U - static_cast<std::uint32_t>(code_ >= range_);
      code_ -= is_one & range_;
      number = 2 * number - is_one;
    }
    return number;
  }

 private:
  static constexpr std::uint32_t kTop = 1U << 24;
  static constexpr unsigned kBits = 11;
  static constexpr std::int32_t kOne = 1 << kBits;
  static constexpr unsigned kShift = 5;
  static constexpr std::int32_t kRound = (1 << kShift) - 1;

  const std::uint8_t* next_;
  std::uint32_t range_ = 0xFFFFFFFF;
  std::uint32_t code_ = 0;
};

}  // namespace pfgen
