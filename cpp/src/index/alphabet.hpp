// The symbols of one question: its code points, numbered from 1 by falling frequency.
//
// Small dense numbers make windows of symbols fit into a few machine words and keep tables small.
// Symbol 0 is any code point that no reference answer contains. With its symbol, a code point has what truthfulness
// asks of it.
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

  class Entry {
   public:
    Entry() = default;
    Entry(bool is_counted, bool is_counted_in_paper) noexcept
        : bits_(std::uint32_t{is_counted} << 31 | std::uint32_t{is_counted_in_paper} << 30) {}
    // That of kUnknown, with another symbol.
    Entry with(Symbol symbol) const noexcept { return Entry(bits_ | symbol); }

    Symbol symbol() const noexcept { return bits_ & (~std::uint32_t{0} >> 2); }
    // The lowest bits, which hold the symbols of compact indexes.
    std::uint16_t short_symbol() const noexcept { return static_cast<std::uint16_t>(bits_); }
    // Whether truthfulness counts the code point: all bits or none.
    std::uint32_t counted(bool is_paper) const noexcept {
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(bits_ << unsigned{is_paper}) >> 31);
    }

   private:
    explicit Entry(std::uint32_t bits) noexcept : bits_(bits) {}

    std::uint32_t bits_ = 0;
  };

  Entry entry_of(char32_t code_point) const noexcept {
    return entries_[page_of_[code_point >> kPageBits] + (code_point & (kPageSize - 1))];
  }
  Symbol symbol_of(char32_t code_point) const noexcept { return entry_of(code_point).symbol(); }
  std::size_t size() const noexcept { return code_points_.size(); }
  // By symbol, from 1.
  std::span<const char32_t> code_points() const noexcept { return code_points_; }

 private:
  static constexpr int kPageBits = 8;
  static constexpr std::size_t kPageSize = std::size_t{1} << kPageBits;

  // Of a code point, in a page of its own.
  Entry& place_of(char32_t code_point);

  std::vector<std::uint32_t> page_of_;  // offset into entries_ for every page of code points; 0: the usual page
  std::vector<Entry> entries_;
  std::vector<char32_t> code_points_;
};

}  // namespace pfgen
