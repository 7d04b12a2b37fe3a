// Sums and rounding of floats as in Python, bit for bit; the order of a sum is part of the rules (docs/scoring.md,
// section 5).
#pragma once

#include <cstdint>
#include <span>

namespace pfgen {

enum class FloatSum : std::uint8_t { kCompensated, kNaive };

// The sum in the order given, as CPython's `sum` has computed it since 3.12 (compensated) or did before (naive).
double sum(std::span<const double> values, FloatSum float_sum) noexcept;

// round(value, digits): correctly rounded, ties to even. For 0 <= value and value * 10**digits < 2**52, and 0 to 6
// digits; other values are returned unchanged.
double round_decimal(double value, int digits) noexcept;

}  // namespace pfgen
