// A text as profile normalised reads it (docs/scoring.md, section 10).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pfgen/positions.hpp"
#include "pfgen/text.hpp"

namespace pfgen {

struct NormalisationClass;

// What stands for a run of characters that are left out: nothing, or a space between the units around it.
enum class Gaps : std::uint8_t { kNothing, kSpaces };

// Writes the units of characters in NFKC, one after the other.
class UnitWriter {
 public:
  explicit UnitWriter(Gaps gaps = Gaps::kNothing) : has_spaces_(gaps == Gaps::kSpaces) {}

  std::size_t n_units() const noexcept { return n_units_; }
  // `c` becomes one character. Writes up to two units to `out`, and perhaps changes the element after them.
  void put(char32_t c, const NormalisationClass& of_c, char32_t* out) noexcept;

 private:
  // What a digit would make of a full stop before it.
  enum class Before : std::uint8_t { kOther, kDigit, kStopAfterDigit };

  std::size_t n_units_ = 0;
  Before before_ = Before::kOther;
  bool has_spaces_;
  bool has_gap_ = false;
};

// The forms of a text in which keyword rules are searched: as it is written, with digits and Latin letters of usual
// width, and in NFKC.
inline constexpr std::size_t kTextForms = 3;

// One form of a text, and the number of units of each of its prefixes.
class TextForm final : public Positions {
 public:
  // The number of code points that were read.
  std::size_t size() const noexcept { return n_read_; }
  // The number of units of the first `n` of them.
  std::uint32_t position(std::size_t n) const override;
  // The longest prefix with at most `limit` units, of a text that was read up to more units or to its end.
  std::u32string_view cut(std::size_t limit) const;

 private:
  friend class NormalisedText;

  // Code points whose NFKC form depends on each other, and how units are written from there on.
  struct Segment {
    std::size_t begin;
    UnitWriter writer;
  };

  std::vector<char32_t> text_;
  std::vector<std::uint32_t> n_units_;  // of the prefixes that end with a segment
  std::vector<Segment> segments_;       // of several code points
  std::size_t n_read_ = 0;
};

// The units of a text, and its forms. Its memory is used again for every text.
class NormalisedText {
 public:
  explicit NormalisedText(Gaps gaps = Gaps::kNothing) : gaps_(gaps) {}

  // Reads a text up to where it has more than `limit` units, in time linear in what is read of it. Returns kNoError, or
  // the byte offset of the first invalid UTF-8 sequence.
  std::size_t read(const TextView& text, std::size_t limit);

  // All units, or more than `limit` of them.
  std::span<const char32_t> units() const noexcept { return {units_.data(), n_units_}; }
  // The forms in their order; one that equals the first may be left out.
  const TextForm& form(std::size_t i) const noexcept {
    return i == 2 ? composed_ : i == 1 && has_narrow_form_ ? narrow_ : written_;
  }
  bool has_form(std::size_t i) const noexcept { return i == 0 || (i == 1 ? has_narrow_form_ : has_nfkc_form_); }

 private:
  bool scan(std::size_t limit, bool is_whole);
  void take_narrow_form();
  std::size_t end_of_segment(std::size_t begin) const;
  void take_segment(std::size_t begin, std::size_t end, UnitWriter& writer);
  void make_room(std::size_t n_units, std::size_t n_more);

  Gaps gaps_;
  TextForm written_;
  TextForm narrow_;
  TextForm composed_;
  std::vector<char32_t> units_;
  std::vector<char32_t> segment_;  // in NFKC
  std::size_t n_units_ = 0;
  bool has_narrow_form_ = false;
  bool has_nfkc_form_ = false;
};

}  // namespace pfgen
