#include "index/row_placement.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "pfgen/error.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kMaxSymbols = std::size_t{1} << 30;
constexpr std::uint64_t kAll = ~std::uint64_t{0};

// A set of numbers, of which one may ask up to `margin` past the highest.
class Bits {
 public:
  explicit Bits(std::size_t margin) : margin_(margin), words_(1 + margin / 64) {}

  void add(std::size_t number) {
    const std::size_t n_words = 1 + (number + margin_) / 64;
    if (n_words > words_.size()) words_.resize(2 * n_words);
    words_[number / 64] |= std::uint64_t{1} << number % 64;
  }
  bool has(std::size_t number) const noexcept { return (words_[number / 64] >> number % 64 & 1) != 0; }
  // Which of the 64 numbers from `first` on are in it.
  std::uint64_t from(std::size_t first) const noexcept {
    const std::uint64_t* word = &words_[first / 64];
    const std::size_t shift = first % 64;
    return word[0] >> shift | word[1] << 1 << (63 - shift);
  }

 private:
  std::size_t margin_;
  std::vector<std::uint64_t> words_;
};

// First fit, 64 bases at a time.
class Placer {
 public:
  explicit Placer(const Rows& rows)
      : rows_(rows), max_symbol_(rows.symbols.empty() ? 0 : std::ranges::max(rows.symbols)) {}

  // The first row is placed first; then the rows that are hard to place, while there is much space.
  Placement place() {
    std::vector<std::vector<std::uint32_t>> rows = rows_by_length();
    take(0, 0);
    for (std::size_t length = rows.size(); --length > 1;) {
      begin_ = 0;
      for (const std::uint32_t row : rows[length]) take(row, find(rows_[row]));
    }
    fill_gaps(rows[1]);
    const auto no_row = static_cast<std::uint32_t>(last_base_ + 1);
    for (const std::uint32_t row : rows[0]) placement_.bases[row] = no_row;
    placement_.no_row = no_row;
    placement_.n_slots = no_row + max_symbol_ + 1;
    return std::move(placement_);
  }

 private:
  // Rows that are tried for a gap.
  static constexpr std::size_t kTried = 32;

  // All but the first, and at least lists for 0 and 1.
  std::vector<std::vector<std::uint32_t>> rows_by_length() const {
    std::vector<std::vector<std::uint32_t>> by_length(2);
    for (std::uint32_t row = 1; row < rows_.size(); ++row) {
      const std::size_t length = rows_[row].size();
      if (length >= by_length.size()) by_length.resize(length + 1);
      by_length[length].push_back(row);
    }
    return by_length;
  }

  // Rows of one length soon skip gaps that do not fit them. Shorter rows may use these gaps.
  std::size_t find(std::span<const Symbol> symbols) {
    while (taken_.from(begin_) == kAll) begin_ += 64;
    const std::size_t least = *std::ranges::min_element(symbols);
    const std::size_t first = begin_ < least ? 0 : begin_ - least;
    for (std::size_t base = first;; base += 64) {
      std::uint64_t unusable = bases_.from(base);
      for (std::size_t i = 0; i < symbols.size() && unusable != kAll; ++i) unusable |= taken_.from(base + symbols[i]);
      if (unusable == kAll) continue;
      begin_ += (base - first) / 2 / 64 * 64;
      return base + static_cast<std::size_t>(std::countr_one(unusable));
    }
  }

  // Rows of one symbol are most of all, and fit any gap whose base is not used yet: each gap takes the first that does.
  void fill_gaps(std::span<std::uint32_t> rows) {
    std::size_t n_placed = 0;
    for (std::size_t slot = 0; n_placed < rows.size(); ++slot) {
      if (slot % 64 == 0) {
        while (taken_.from(slot) == kAll) slot += 64;
      }
      if (taken_.has(slot)) continue;
      for (std::size_t i = n_placed; i < std::min(n_placed + kTried, rows.size()); ++i) {
        const Symbol symbol = rows_[rows[i]][0];
        if (symbol > slot || bases_.has(slot - symbol)) continue;
        std::swap(rows[i], rows[n_placed]);
        take(rows[n_placed++], slot - symbol);
        break;
      }
    }
  }

  void take(std::uint32_t row, std::size_t base) {
    bases_.add(base);
    for (const Symbol symbol : rows_[row]) taken_.add(base + symbol);
    placement_.bases[row] = static_cast<std::uint32_t>(base);
    last_base_ = std::max(last_base_, base);
  }

  const Rows& rows_;
  Symbol max_symbol_;
  Placement placement_{std::vector<std::uint32_t>(rows_.size()), 0, 0};
  // A base is at most 64 after the last slot that is taken, and the 128 numbers after it are read.
  Bits taken_{max_symbol_ + std::size_t{256}};  // slots
  Bits bases_{max_symbol_ + std::size_t{256}};  // of rows
  std::size_t begin_ = 0;                       // where rows of one length begin to look
  std::size_t last_base_ = 0;
};

}  // namespace

Placement place_rows(const Rows& rows) {
  if (rows.symbols.size() > kMaxSymbols) {
    throw CompileError("the references of a question hold too many different n-grams");
  }
  return Placer(rows).place();
}

}  // namespace pfgen
