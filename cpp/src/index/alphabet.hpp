// The symbols of one question: its code points, numbered from 1 by falling frequency.
//
// Small dense numbers make windows of symbols fit into a few machine words and keep tables small.
// Symbol 0 is any code point that no reference answer contains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "text/marks.hpp"

namespace pfgen {

using Symbol = std::uint32_t;
inline constexpr Symbol kUnknown = 0;

// The code points (and marks) of each answer of one reference set.
using AnswerSet = std::vector<std::vector<char32_t>>;

class Alphabet {
 public:
  Alphabet() = default;
  // Numbers the code points (or marks) of all answers of all sets; equal counts are ordered by code point.
  explicit Alphabet(std::span<const AnswerSet> sets);
  // `code_points[i]` has the symbol i + 1. They are distinct and at most kEndMark.
  explicit Alphabet(std::span<const char32_t> code_points);

  Symbol symbol_of(char32_t code_point) const noexcept {
    return symbols_[page_of_[code_point >> kPageBits] + (code_point & (kPageSize - 1))];
  }
  std::size_t size() const noexcept { return code_points_.size(); }
  // By symbol, from 1.
  std::span<const char32_t> code_points() const noexcept { return code_points_; }

 private:
  static constexpr int kPageBits = 8;
  static constexpr std::size_t kPageSize = std::size_t{1} << kPageBits;

  std::vector<std::uint32_t> page_of_;  // offset into symbols_ for every page of code points; 0: the empty page
  std::vector<Symbol> symbols_;
  std::vector<char32_t> code_points_;
};

}  // namespace pfgen
