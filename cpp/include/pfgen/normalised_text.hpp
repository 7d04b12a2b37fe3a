// A text as profile normalised reads it (docs/scoring.md, section 10).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pfgen/text.hpp"

namespace pfgen {

struct NormalisationClass;

// A text that keyword rules are searched in: cut to its longest prefix with at most as many units as are read.
struct CutText {
  std::u32string_view text;
  const std::uint32_t* n_units;  // for each length of a prefix of the text, the number of its units
};

// The units of a text, and its two forms in which keyword rules are searched. Its memory is used again for every text.
class NormalisedText {
 public:
  // Reads a text up to where it has more than `limit` units, in time linear in what is read of it. Returns kNoError, or
  // the byte offset of the first invalid UTF-8 sequence. The forms are known only with a limit.
  std::size_t read(const TextView& text, std::size_t limit);

  // All units, or more than `limit` of them.
  std::span<const char32_t> units() const noexcept { return {units_.data(), n_units_}; }
  CutText as_written() const noexcept { return written_.cut_text(); }
  CutText composed() const noexcept { return composed_.cut_text(); }  // in NFKC
  bool has_two_forms() const noexcept { return has_two_forms_; }

 private:
  struct Form {
    std::vector<char32_t> text;
    std::vector<std::uint32_t> n_units;
    std::size_t n_cut = 0;

    void cut_back(std::size_t n_counted, std::size_t limit);
    CutText cut_text() const noexcept { return {{text.data(), n_cut}, n_units.data()}; }
  };
  // What a digit would make of a full stop before it.
  enum class Before : std::uint8_t { kOther, kDigit, kStopAfterDigit };

  bool scan(std::size_t limit, bool is_whole);
  std::size_t end_of_segment(std::size_t begin) const;
  std::size_t take_segment(std::size_t begin, std::size_t end, std::size_t limit);
  void make_room(std::size_t n_more);
  void put(char32_t c, const NormalisationClass& of_c);

  Form written_;
  Form composed_;
  std::vector<char32_t> units_;
  std::vector<char32_t> segment_;  // in NFKC
  std::size_t n_units_ = 0;
  std::size_t n_composed_ = 0;
  Before before_ = Before::kOther;
  bool has_two_forms_ = false;
};

}  // namespace pfgen
