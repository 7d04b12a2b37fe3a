// The discount of a score for the length of the answer (docs/scoring.md).
#pragma once

#include <cstddef>

namespace pfgen {

// The factor by which a length of `n` code points discounts a score: 0 at the limit, negative past it.
constexpr double discount_at(std::size_t n, std::size_t target_length, std::size_t limit) noexcept {
  const std::size_t over = n > target_length ? n - target_length : 0;
  return 1.0 - static_cast<double>(over) / static_cast<double>(limit - target_length);
}

}  // namespace pfgen
