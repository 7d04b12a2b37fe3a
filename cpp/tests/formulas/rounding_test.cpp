// Rounding and sums: bit for bit those of CPython.
#include <cmath>
#include <limits>
#include <vector>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "makers/rules.hpp"
#include "pfgen/sums.hpp"

namespace pfgen::test {

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
      CHECK(round_decimal(value, digits) == rule_round(value, digits));
    }
  }
}

TEST(round_decimal_leaves_what_it_cannot_round) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {1e300, -1e300, 1e16, 0x1p62, kInfinity, -kInfinity})
    CHECK(round_decimal(value, 6) == value);
  CHECK(std::isnan(round_decimal(std::nan(""), 6)));
}

TEST(sums_are_those_of_cpython) {
  const std::vector<double> tenths(10, 0.1), thirds{0.1, 0.2, 0.3}, huge{1.0, 1e100, 1.0, -1e100};
  CHECK(sum(tenths, FloatSum::kNaive) == 0.9999999999999999 && sum(tenths, FloatSum::kCompensated) == 1.0);
  CHECK(sum(thirds, FloatSum::kNaive) == 0.6000000000000001 && sum(thirds, FloatSum::kCompensated) == 0.6);
  CHECK(sum(huge, FloatSum::kNaive) == 0.0 && sum(huge, FloatSum::kCompensated) == 2.0);
  CHECK(sum({}, FloatSum::kNaive) == 0.0 && sum({}, FloatSum::kCompensated) == 0.0);
}

}  // namespace pfgen::test
