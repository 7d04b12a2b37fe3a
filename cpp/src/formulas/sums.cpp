#include "pfgen/sums.hpp"

#include <cmath>

namespace pfgen {

double sum(std::span<const double> values, FloatSum float_sum) noexcept {
  double total = 0.0;
  double compensation = 0.0;
  for (const double value : values) {
    const double next = total + value;
    compensation += std::abs(total) >= std::abs(value) ? (total - next) + value : (value - next) + total;
    total = next;
  }
  return float_sum == FloatSum::kCompensated ? total + compensation : total;
}

}  // namespace pfgen
