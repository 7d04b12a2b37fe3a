// Places the rows of a sparse table into one array, so that they fill each other's gaps.
//
// A row is a set of symbols. It gets a base, and each of its symbols the slot base + symbol, which no other row has. No
// two rows share a base. So the symbol in a slot also identifies its row, and the search for a symbol takes one
// addition and one read of a slot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/alphabet.hpp"

namespace pfgen {

struct Rows {
  std::span<const std::uint32_t> begin;  // of each row's symbols, and the end of the last
  std::span<const Symbol> symbols;       // distinct within a row

  std::size_t size() const noexcept { return begin.size() - 1; }
  std::span<const Symbol> operator[](std::size_t row) const noexcept {
    return symbols.subspan(begin[row], begin[row + 1] - begin[row]);
  }
};

struct Placement {
  std::vector<std::uint32_t> bases;  // of each row: 0 for row 0, and `no_row` for rows without symbols
  std::uint32_t no_row;              // a base at which no symbol is found
  std::uint32_t n_slots;             // base + any symbol is below it
};

// The result depends on nothing but the rows. Throws CompileError for more symbols than 30 bits can number.
Placement place_rows(const Rows& rows);

}  // namespace pfgen
