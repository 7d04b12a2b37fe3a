// The discount of a score at a length (docs/scoring.md). The formulas take the lengths as a type. The usual lengths are
// known at compile time, so they cost nothing; other lengths are known at run time.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "pfgen/constants.hpp"
#include "pfgen/discount.hpp"

namespace pfgen {

class UsualLengths {
 public:
  static constexpr std::size_t target_length() noexcept { return kTargetLength; }
  static constexpr std::size_t limit() noexcept { return kLimit; }
  static double discount(std::size_t n) noexcept { return kDiscounts[n]; }

 private:
  static constexpr auto kDiscounts = [] {
    std::array<double, kLimit + 1> discounts{};
    for (std::size_t n = 0; n <= kLimit; ++n) discounts[n] = discount_at(n, kTargetLength, kLimit);
    return discounts;
  }();
};

class VariedLengths {
 public:
  VariedLengths(std::size_t target_length, std::size_t limit) : target_length_(target_length) {
    for (std::size_t n = 0; n <= limit; ++n) discounts_.push_back(discount_at(n, target_length, limit));
  }

  std::size_t target_length() const noexcept { return target_length_; }
  std::size_t limit() const noexcept { return discounts_.size() - 1; }
  double discount(std::size_t n) const noexcept { return discounts_[n]; }

 private:
  std::size_t target_length_;
  std::vector<double> discounts_;
};

}  // namespace pfgen
