// All n-grams of many texts at once: the places of the texts, sorted by the symbols that begin there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "counting/symbols.hpp"
#include "pfgen/ngram_counts.hpp"

namespace pfgen {

// The window of a place is the symbols from there on, at most `max_order`, up to the end of its text. The n-grams of a
// place are the prefixes of its window, so the places of an n-gram are adjacent after sorting.
class SortedWindows {
 public:
  // Throws CompileError unless `max_order` is from 1 to kLongestNgram.
  SortedWindows(const SymbolTexts& texts, std::size_t max_order);

  std::size_t size() const noexcept { return windows_.size(); }
  std::size_t max_order() const noexcept { return max_order_; }
  std::uint32_t row(std::size_t i) const noexcept { return windows_[i].row; }
  std::uint32_t offset(std::size_t i) const noexcept { return windows_[i].offset; }

  // Whether row(i) has no window before `i` with the same first `order` symbols: so it counts for their frequency.
  bool is_first_of_row(std::size_t i, std::size_t order) const noexcept { return windows_[i].repeated < order; }

  // Where some `n` parts of about equal size begin, and the end of the last; no n-gram is in two of them.
  std::vector<std::size_t> cut(std::size_t n) const;

  // Calls for each n-gram of the windows from `begin` up to `end`, the shorter and the smaller first:
  // `visitor.open(order, i)` where its windows begin, `visitor.count(order, row)` for each row that holds it, and
  // `visitor.close(order, i)` where they end.
  template <class Visitor>
  void visit(std::size_t begin, std::size_t end, Visitor& visitor) const {
    std::size_t open = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Window& window = windows_[i];
      for (; open > window.shared; --open) visitor.close(open, i);
      while (open < window.length) visitor.open(++open, i);
      for (std::size_t order = std::size_t{window.repeated} + 1; order <= window.length; ++order) {
        visitor.count(order, window.row);
      }
    }
    for (; open > 0; --open) visitor.close(open, end);
  }

 private:
  struct Window {
    std::uint32_t row;
    std::uint32_t offset;
    std::uint8_t length;
    std::uint8_t shared;    // first symbols that it shares with the window before
    std::uint8_t repeated;  // first symbols that it shares with some window before of the same row
  };

  std::size_t max_order_;
  std::vector<Window> windows_;
};

}  // namespace pfgen
