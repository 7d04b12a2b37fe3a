// Numbers at random that are the same on every platform.
#pragma once

#include <cstdint>

namespace pfgen {

class Generator {
 public:
  explicit Generator(std::uint64_t state) : state_(state) {}

  std::uint64_t draw() { return mixed(state_ += kStep); }

  // The number that `draw` returns after `n` other numbers.
  std::uint64_t ahead(std::uint64_t n) const { return mixed(state_ + (n + 1) * kStep); }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15U;

  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
  }

  std::uint64_t state_;
};

// The upper half of a product: `a` at random and below 2^64 becomes a number below `b`.
inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a_low = a & 0xFFFFFFFFU, a_high = a >> 32;
  const std::uint64_t b_low = b & 0xFFFFFFFFU, b_high = b >> 32;
  const std::uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
  return a_high * b_high + (middle >> 32) + (((middle & 0xFFFFFFFFU) + a_low * b_high) >> 32);
}

}  // namespace pfgen
