// Windows, which the builder of an index sorts.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "index/states.hpp"

namespace pfgen {

// The last 10 symbols before a position, the latest in the highest bits; zeros where the text had begun.
// Two words hold alphabets of up to 4095 symbols, four words all of Unicode.
template <std::size_t kWords>
struct Window {
  static constexpr int kSymbolBits = kWords == 2 ? 12 : 21;
  static constexpr int kSymbolsPerWord = kWords == 2 ? 5 : 3;
  static constexpr int kTopShift = kSymbolBits * (kSymbolsPerWord - 1);
  static constexpr std::uint64_t kSymbolMask = (std::uint64_t{1} << kSymbolBits) - 1;
  static constexpr int kInLastWord = kMaxOrder - kSymbolsPerWord * static_cast<int>(kWords - 1);

  std::array<std::uint64_t, kWords> words{};

  // Word by word: faster than a default comparison of arrays.
  bool operator==(const Window& other) const {
    std::uint64_t difference = 0;
    for (std::size_t w = 0; w < kWords; ++w) difference |= words[w] ^ other.words[w];
    return difference == 0;
  }
  bool operator<(const Window& other) const {
    for (std::size_t w = 0; w + 1 < kWords; ++w) {
      if (words[w] != other.words[w]) return words[w] < other.words[w];
    }
    return words[kWords - 1] < other.words[kWords - 1];
  }

  void push(Symbol symbol) {
    for (std::size_t w = kWords - 1; w > 0; --w) {
      words[w] = words[w] >> kSymbolBits | (words[w - 1] & kSymbolMask) << kTopShift;
    }
    words[0] = words[0] >> kSymbolBits | static_cast<std::uint64_t>(symbol) << kTopShift;
    words[kWords - 1] &= ~std::uint64_t{0} << (kSymbolBits * (kSymbolsPerWord - kInLastWord));
  }

  Symbol operator[](int i) const {
    const auto place = static_cast<std::size_t>(i);
    const int shift = kTopShift - kSymbolBits * (i % kSymbolsPerWord);
    return static_cast<Symbol>(words[place / kSymbolsPerWord] >> shift & kSymbolMask);
  }

  std::uint64_t hash() const {
    std::uint64_t h = 0;
    for (const std::uint64_t word : words) {
      h = (h ^ word) * 0x9E3779B97F4A7C15U;
      h ^= h >> 32;
    }
    return h;
  }
};

// Number of symbols before a position, up to the beginning of its text.
template <std::size_t kWords>
std::uint32_t depth_of(const Window<kWords>& window) {
  int depth = kMaxOrder;
  while (depth > 0 && window[depth - 1] == kUnknown) --depth;
  return static_cast<std::uint32_t>(depth);
}

// Number of leading symbols that two windows share.
template <std::size_t kWords>
std::uint32_t common_length(const Window<kWords>& a, const Window<kWords>& b) {
  constexpr int kUnused = 64 - Window<kWords>::kSymbolBits * Window<kWords>::kSymbolsPerWord;
  for (std::size_t w = 0; w < kWords; ++w) {
    const std::uint64_t difference = a.words[w] ^ b.words[w];
    if (difference == 0) continue;
    return static_cast<std::uint32_t>(static_cast<int>(w) * Window<kWords>::kSymbolsPerWord +
                                      (std::countl_zero(difference) - kUnused) / Window<kWords>::kSymbolBits);
  }
  return kMaxOrder;
}

}  // namespace pfgen
