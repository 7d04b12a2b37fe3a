// The formulas take the lengths of a question as a type. The usual lengths are known at compile time, so they cost
// nothing; other lengths are known at run time.
#pragma once

#include <array>
#include <cstddef>

#include "pfgen/constants.hpp"

namespace pfgen {

struct UsualLengths {
  // NOLINTBEGIN(readability-identifier-naming): the members of Lengths
  static constexpr std::size_t target = Lengths().target;
  static constexpr std::size_t limit = Lengths().limit;
  // NOLINTEND(readability-identifier-naming)
  static double discount(std::size_t n) noexcept { return kDiscounts[n]; }

 private:
  static constexpr auto kDiscounts = [] {
    std::array<double, limit + 1> discounts{};
    for (std::size_t n = 0; n <= limit; ++n) discounts[n] = Lengths().discount(n);
    return discounts;
  }();
};

// Calls `formula` with the lengths, of the type that is fastest.
template <class Formula>
auto with_lengths(const Lengths& lengths, const Formula& formula) {
  return lengths == Lengths() ? formula(UsualLengths()) : formula(lengths);
}

}  // namespace pfgen
