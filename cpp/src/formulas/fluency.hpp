// Fluency before the division by the baseline (docs/scoring.md, sections 2 and 7), for several sets side by side.
//
// A division by the baseline is monotone under rounding, so it may follow the maximum over the prefixes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "formulas/lengths.hpp"

namespace pfgen {

// Sums stay far below 2^63, and signed numbers are converted faster.
inline double as_double(std::uint64_t sum) noexcept { return static_cast<double>(static_cast<std::int64_t>(sum)); }

// The best raw(n) * discount(n) of each set. `raw[set]` is the raw sum of the prefix so far. `raw.add(i)` adds the
// n-grams that end at code point i, counted from 0.
template <std::size_t kSets, class Lengths, class Raw>
std::array<double, kSets> best_prefix_fluency(const Lengths& lengths, std::size_t n_code_points, Raw raw) {
  std::array<double, kSets> best{};
  const std::size_t last = std::min(n_code_points, lengths.limit - 1);
  // Up to the target length the raw sum grows and the discount is 1: only the last of those prefixes matters.
  const std::size_t first = std::min(last, lengths.target);
  for (std::size_t i = 0; i < first; ++i) raw.add(i);
  for (std::size_t n = first; n <= last; ++n) {
    const double discount = lengths.discount(n);
    for (std::size_t s = 0; s < kSets; ++s) best[s] = std::max(best[s], as_double(raw[s]) * discount);
    if (n < last) raw.add(n);
  }
  return best;
}

// Profile paper: `raw` is the sum over all positions of the marked answer.
template <class Lengths>
double paper_fluency(const Lengths& lengths, std::uint64_t raw, double n_answers, std::size_t n_code_points) noexcept {
  if (n_code_points == 0 || n_code_points >= lengths.limit) return 0.0;
  return as_double(raw) / n_answers * lengths.discount(n_code_points);
}

}  // namespace pfgen
