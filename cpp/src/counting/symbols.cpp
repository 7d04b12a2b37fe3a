#include "counting/symbols.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "counting/numbering.hpp"
#include "pfgen/error.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kCodePoints = 0x110000;
constexpr std::size_t kMostCodePoints = (std::size_t{1} << 31) - 1;

}  // namespace

SymbolTexts read_symbols(std::span<const TextView> texts) {
  SymbolTexts read;
  // An upper bound; pages that are not written to take no memory.
  read.symbols.reserve(std::accumulate(texts.begin(), texts.end(), std::size_t{0},
                                       [](std::size_t n, const TextView& text) { return n + text.n_units; }));
  read.begin.reserve(texts.size() + 1);
  std::vector<char32_t> code_points;
  for (std::size_t row = 0; row < texts.size(); ++row) {
    if (const std::size_t byte = decode(texts[row], kNoError, code_points); byte != kNoError)
      throw InvalidAnswer(row, byte);
    read.symbols.insert(read.symbols.end(), code_points.begin(), code_points.end());
    read.begin.push_back(read.symbols.size());
    if (read.symbols.size() > kMostCodePoints) throw CompileError("expected fewer than 2^31 code points in all");
  }
  std::vector<std::uint32_t> symbol_of(kCodePoints);
  for (const std::uint32_t code_point : read.symbols) symbol_of[code_point] = 1;
  for (std::uint32_t& symbol : symbol_of) {
    if (symbol != 0) symbol = ++read.n_distinct;
  }
  for (std::uint32_t& symbol : read.symbols) symbol = symbol_of[symbol];
  return read;
}

WindowKeys::WindowKeys(const SymbolTexts& texts, std::size_t n)
    : texts_(texts),
      n_(n),
      bits_(std::max<std::size_t>(1, static_cast<std::size_t>(std::bit_width(texts.n_distinct)))) {
  // A window that does not fit into a key is stored as two shorter windows with numbers, which may overlap.
  const std::size_t in_key = 64 / bits_;
  n_ = std::min(n, in_key);
  mask_ = n_ * bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n_ * bits_) - 1;
  for (std::size_t covered = n_; covered < n; covered = n_) {
    Numbering numbering;
    std::vector<std::uint32_t> numbers(texts.symbols.size());
    for (std::size_t row = 0; row < texts.size(); ++row) {
      std::uint32_t* of_row = numbers.data() + texts.begin[row];
      for_each(row, [&](std::size_t i, std::uint64_t key) { of_row[i] = numbering.number_of(key); });
    }
    numbers_.swap(numbers);
    n_numbered_ = covered;
    n_ = std::min(n, 2 * covered);
  }
}

}  // namespace pfgen
