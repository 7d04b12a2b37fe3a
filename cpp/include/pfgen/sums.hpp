// Sums and rounding of floats as in Python, bit for bit; the order of a sum is part of the rules (docs/scoring.md,
// section 5).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pfgen {

enum class FloatSum : std::uint8_t { kCompensated, kNaive };

// The sum in the order given, as CPython's `sum` has computed it since 3.12 (compensated) or did before (naive).
double sum(std::span<const double> values, FloatSum float_sum) noexcept;

// round(value, digits): correctly rounded, ties to even. For 0 <= value and value * 10**digits < 2**52, and 0 to 6
// digits; other values are returned unchanged.
inline double round_decimal(double value, int digits) noexcept {
  static constexpr std::array<double, 7> kPowers{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  const double power = kPowers[static_cast<std::size_t>(digits)];
  const double scaled = value * power;
  // Only a forged index leads here: such large numbers, infinities and NaN have no digits to round.
  if (!(std::abs(scaled) < 0x1p52)) return value;
  double whole = static_cast<double>(static_cast<std::int64_t>(scaled));
  // Exact, because both are multiples of the same power of two. Where it is not 0 it decides; where it is, the
  // product's own rounding error does, and after that the even neighbour.
  const double beyond_half = (scaled - whole) - 0.5;
  const double error = beyond_half == 0.0 ? std::fma(value, power, -scaled) : 0.0;
  const bool is_odd = (static_cast<std::uint64_t>(whole) & 1) != 0;
  if (beyond_half > 0.0 || error > 0.0 || (beyond_half == 0.0 && error == 0.0 && is_odd)) whole += 1.0;
  return whole / power;
}

}  // namespace pfgen
