// Texts as numbers, for counting n-grams over many answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pfgen/text.hpp"

namespace pfgen {

// All texts one after another. Symbols are numbered from 1 in the order of their code points.
struct SymbolTexts {
  std::vector<std::uint32_t> symbols;
  std::vector<std::size_t> begin{0};  // of each text, then the end of the last
  std::uint32_t n_distinct = 0;

  std::size_t size() const noexcept { return begin.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t row) const noexcept {
    return std::span(symbols).subspan(begin[row], begin[row + 1] - begin[row]);
  }
};

// Throws InvalidAnswer on invalid UTF-8, and CompileError with 2^31 code points or more.
SymbolTexts read_symbols(std::span<const TextView> texts);

// 64-bit keys of the windows of n symbols; two keys are equal just where the windows are.
class WindowKeys {
 public:
  // `texts` must outlive it; `n` is at least 1.
  WindowKeys(const SymbolTexts& texts, std::size_t n);

  // Calls `work(offset, key)` for each window of a text.
  template <class Work>
  void for_each(std::size_t row, const Work& work) const {
    const std::span<const std::uint32_t> text = texts_[row];
    if (text.size() < n_) return;
    if (!numbers_.empty()) {
      const std::uint32_t* numbers = numbers_.data() + texts_.begin[row];
      for (std::size_t i = 0; i + n_ <= text.size(); ++i) {
        work(i, std::uint64_t{numbers[i]} << 32 | numbers[i + n_ - n_numbered_]);
      }
      return;
    }
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      key = (key << bits_ | text[i]) & mask_;
      if (i + 1 >= n_) work(i + 1 - n_, key);
    }
  }

 private:
  const SymbolTexts& texts_;
  std::size_t n_;
  std::size_t bits_;
  std::uint64_t mask_;
  std::size_t n_numbered_ = 0;          // symbols of the windows that have numbers
  std::vector<std::uint32_t> numbers_;  // of the window at each place; empty where whole windows fit into a key
};

// Spreads the bits of a key over all of a word.
constexpr std::uint64_t mixed(std::uint64_t key) {
  key = (key ^ key >> 32) * 0xD6E8FEB86659FD93U;
  key = (key ^ key >> 32) * 0xD6E8FEB86659FD93U;
  return key ^ key >> 32;
}

}  // namespace pfgen
