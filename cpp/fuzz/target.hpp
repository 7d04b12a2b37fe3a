// The functions of every fuzz target: the entry point that libFuzzer calls, and the first inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

// Aborts, directly or through a sanitizer, if the core handles the bytes wrongly; returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes);

namespace pfgen::fuzz {

using Input = std::vector<std::uint8_t>;

std::vector<Input> seeds();

// The numbers of inputs that the core refused and accepted. A target whose inputs are all refused finds nothing.
inline std::size_t n_inside = 0;
inline std::size_t n_refused = 0;

inline void count(bool is_inside) { ++(is_inside ? n_inside : n_refused); }

// Not assert(), which an optimised build leaves out.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Takes bytes from the front of the input; zeros when there are no more.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  bool is_at_end() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

// Some inputs of random bytes, one in three of which is any byte and the others are below 0xB0.
inline std::vector<Input> random_seeds(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Input> inputs;
  for (int i = 0; i < 12; ++i) {
    Input& input = inputs.emplace_back(50 + random() % 751);
    for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random() % (random() % 3 == 0 ? 256 : 0xB0));
  }
  return inputs;
}

}  // namespace pfgen::fuzz
