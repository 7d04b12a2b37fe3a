// Rounding: the same bits as in CPython.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "pfgen/sums.hpp"

namespace pfgen::test {

double rounded_digits(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return std::strtod(text.data(), nullptr);
}

TEST(round_decimal_rounds_the_exact_value) {
  CHECK(round_decimal(0.0078125, 6) == 0.007812);
  CHECK(round_decimal(0.0234375, 6) == 0.023438);
  CHECK(round_decimal(2.675, 2) == 2.67);
  CHECK(round_decimal(0.5, 0) == 0.0 && round_decimal(1.5, 0) == 2.0 && round_decimal(0.0, 5) == 0.0);
  Random random(6);
  for (int i = 0; i < 20000; ++i) {
    const int digits = static_cast<int>(random.below(7));
    const double power = std::pow(10.0, digits);
    const double tie = (static_cast<double>(random.below(3000000)) + 0.5) / power;
    const double dyadic = std::ldexp(static_cast<double>(random.below(4096)), -static_cast<int>(random.below(14)));
    for (const double value : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, 1e9), dyadic, random.unit(),
                               random.unit() * 1e6, std::ldexp(random.unit(), -40)}) {
      CHECK(round_decimal(value, digits) == rounded_digits(value, digits));
    }
  }
}

TEST(round_decimal_leaves_what_it_cannot_round) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {1e300, -1e300, 1e16, 0x1p62, kInfinity, -kInfinity})
    CHECK(round_decimal(value, 6) == value);
  CHECK(std::isnan(round_decimal(std::nan(""), 6)));
}

}  // namespace pfgen::test
