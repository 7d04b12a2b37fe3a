// Sixteen bytes at a time against one number after the other, for random bytes: so all forms of the header are equal.
#include "system/simd.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "makers/check.hpp"
#include "makers/random.hpp"

namespace pfgen::test {
namespace {

using simd::Bytes;
using simd::Pair;
template <class Number>
using Numbers = std::array<Number, simd::kBytes / sizeof(Number)>;

template <class Number>
Numbers<Number> numbers_of(const Bytes& bytes) {
  Numbers<Number> numbers;
  bytes.store(numbers.data());
  return numbers;
}

// Calls `expected(a, b)` for each two numbers.
template <class Number, class Expected>
bool are_as(const Bytes& result, const Bytes& a, const Bytes& b, const Expected& expected) {
  const Numbers<Number> results = numbers_of<Number>(result), first = numbers_of<Number>(a),
                        second = numbers_of<Number>(b);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] != static_cast<Number>(expected(first[i], second[i]))) return false;
  }
  return true;
}

// Often equal, so that comparisons of wide numbers hold now and then.
Bytes random_bytes(Random& random, std::size_t below) {
  Numbers<std::uint8_t> bytes;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(below));
  return Bytes::load(bytes.data());
}

TEST(bytes_are_combined_one_by_one) {
  Random random(1);
  const auto equal = [](auto x, auto y) { return x == y ? -1 : 0; };
  for (int round = 0; round < 3000; ++round) {
    const Bytes a = random_bytes(random, round % 2 == 0 ? 2 : 256), b = random_bytes(random, round % 2 == 0 ? 2 : 256);
    CHECK(are_as<std::uint8_t>(a & b, a, b, [](auto x, auto y) { return x & y; }));
    CHECK(are_as<std::uint8_t>(a | b, a, b, [](auto x, auto y) { return x | y; }));
    CHECK(are_as<std::uint8_t>(simd::equal8(a, b), a, b, equal));
    CHECK(are_as<std::uint16_t>(simd::equal16(a, b), a, b, equal));
    CHECK(are_as<std::uint8_t>(simd::max8(a, b), a, b, [](auto x, auto y) { return std::max(x, y); }));
    const Bytes low = Bytes::all8(0x7F), c = a & low, d = b & low;
    CHECK(are_as<std::uint8_t>(simd::greater8(c, d), c, d, [](auto x, auto y) { return x > y ? -1 : 0; }));
    const Numbers<std::uint8_t> bytes = numbers_of<std::uint8_t>(a);
    for (std::size_t i = 0; i < simd::kBytes; ++i) CHECK((a.bits() >> i & 1) == bytes[i] >> 7);
    CHECK(a.bits() >> simd::kBytes == 0);
    const Numbers<std::uint8_t> first = numbers_of<std::uint8_t>(simd::twice_low(a));
    const Numbers<std::uint8_t> last = numbers_of<std::uint8_t>(simd::twice_high(a));
    for (std::size_t i = 0; i < simd::kBytes; ++i) CHECK(first[i] == bytes[i / 2] && last[i] == bytes[8 + i / 2]);
    const Bytes x = simd::equal16(a, b), y = simd::equal16(b, Bytes::all8(1));
    const Numbers<std::uint8_t> narrow = numbers_of<std::uint8_t>(simd::narrow16(x, y));
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(narrow[i] == static_cast<std::uint8_t>(numbers_of<std::uint16_t>(x)[i]));
      CHECK(narrow[8 + i] == static_cast<std::uint8_t>(numbers_of<std::uint16_t>(y)[i]));
    }
  }
}

TEST(pairs_are_combined_one_by_one) {
  Random random(2);
  const auto number = [&] { return static_cast<double>(random.below(1000)) / 7.0; };
  for (int round = 0; round < 3000; ++round) {
    const std::array<double, 2> a{number(), number()}, b{number(), random.one_in(3) ? a[1] : number() + 0.1};
    const Pair first = Pair::load(a.data()), second = Pair::load(b.data());
    const auto are = [](Pair result, double x, double y) {
      std::array<double, 2> numbers;
      result.store(numbers.data());
      return numbers[0] == x && numbers[1] == y;
    };
    CHECK(are(first + second, a[0] + b[0], a[1] + b[1]));
    CHECK(are(first * second, a[0] * b[0], a[1] * b[1]));
    CHECK(are(first / second, a[0] / b[0], a[1] / b[1]));
    CHECK(are(simd::max(first, second), std::max(a[0], b[0]), std::max(a[1], b[1])));
    CHECK(are(simd::first_of(first, second), a[0], b[0]));
    CHECK(are(simd::second_of(first, second), a[1], b[1]));
    CHECK(are(Pair::all(a[0]), a[0], a[0]));
    CHECK(simd::at_least(first, second) == (unsigned{a[0] >= b[0]} | unsigned{a[1] >= b[1]} << 1));
    const std::uint64_t low = random.below(0x7FFFFFFF), high = random.below(0x7FFFFFFF);
    CHECK(are(Pair::of_halves(high << 32 | low), static_cast<double>(low), static_cast<double>(high)));
  }
}

}  // namespace
}  // namespace pfgen::test
