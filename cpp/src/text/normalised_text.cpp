#include "pfgen/normalised_text.hpp"

#include <algorithm>
#include <limits>

#include "text/nfkc.hpp"
#include "text/normalisation_table.hpp"

namespace pfgen {
namespace {

// Code points that are decoded at first: nearly always enough.
constexpr std::size_t kFirstRead = 384;
constexpr std::size_t kReadMore = 8;
// Memory for more units is not kept for the next text.
constexpr std::size_t kMostKept = 1 << 16;

// A code point adds at most so many units to a text: 18, and a full stop or a space before them.
constexpr std::size_t kMostAdded = 19;
// Stands for the number of units of a prefix that ends within a segment.
constexpr std::uint32_t kWithin = std::numeric_limits<std::uint32_t>::max();

template <class T>
void grow(std::vector<T>& items, std::size_t n) {
  if (items.size() < n) items.resize(std::max(n, 2 * items.size()));
}

}  // namespace

inline void UnitWriter::put(char32_t c, const NormalisationClass& of_c, char32_t* out) noexcept {
  const char32_t* const begin = out;
  if (of_c.has(NormalisationClass::kStop)) {
    has_gap_ |= before_ != Before::kDigit;
    before_ = before_ == Before::kDigit ? Before::kStopAfterDigit : Before::kOther;
    return;
  }
  const bool is_digit = of_c.has(NormalisationClass::kDigit);
  if (before_ == Before::kStopAfterDigit) {
    if (is_digit) *out++ = U'.';
    has_gap_ |= !is_digit;
  }
  before_ = is_digit ? Before::kDigit : Before::kOther;
  const bool is_unit = of_c.has(NormalisationClass::kUnit);
  if (has_spaces_) {
    if (is_unit && has_gap_ && n_units_ > 0) *out++ = U' ';
    has_gap_ = !is_unit;
  }
  *out = c + static_cast<char32_t>(of_c.unit_shift);
  n_units_ += static_cast<std::size_t>(out - begin) + static_cast<std::size_t>(is_unit);
}

std::uint32_t TextForm::position(std::size_t n) const {
  if (n_units_[n] != kWithin) return n_units_[n];
  const auto after = std::ranges::upper_bound(segments_, n, {}, &Segment::begin);
  const Segment& segment = *std::prev(after);
  std::vector<char32_t> composed;
  to_nfkc(std::span(text_).subspan(segment.begin, n - segment.begin), composed);
  UnitWriter writer = segment.writer;
  char32_t units[3];
  for (const char32_t c : composed) writer.put(c, normalisation_class(c), units);
  return static_cast<std::uint32_t>(writer.n_units());
}

// Where marks compose, a longer prefix may have fewer units. No prefix within a segment has fewer units than the one
// that ends where the segment begins.
std::u32string_view TextForm::cut(std::size_t limit) const {
  std::size_t n = n_read_;
  while (n_units_[n] != kWithin && n_units_[n] > limit) --n;
  for (std::size_t units = position(n); units > limit; units = position(n)) {
    n -= (units - limit + kMostAdded - 1) / kMostAdded;
  }
  return {text_.data(), n};
}

std::size_t NormalisedText::read(const TextView& text, std::size_t limit) {
  if (units_.size() > kMostKept) *this = NormalisedText(gaps_);
  for (std::size_t n_read = limit == kNoError ? kNoError : kFirstRead;; n_read *= kReadMore) {
    const std::size_t invalid = decode(text, n_read, written_.text_);
    if (invalid != kNoError) return invalid;
    if (!scan(limit, written_.text_.size() < n_read)) continue;
    take_narrow_form();
    return kNoError;
  }
}

// Characters are replaced one by one, and NFKC replaces them likewise, so the units of all prefixes stay the same.
void NormalisedText::take_narrow_form() {
  const auto is_wide = [](char32_t c) {
    return (c >= 0xFF10 && c <= 0xFF19) || (c >= 0xFF21 && c <= 0xFF3A) || (c >= 0xFF41 && c <= 0xFF5A);
  };
  has_narrow_form_ = has_nfkc_form_ && std::ranges::any_of(written_.text_, is_wide);
  if (!has_narrow_form_) return;
  narrow_ = written_;
  for (char32_t& c : narrow_.text_) {
    if (is_wide(c)) c -= 0xFEE0;
  }
}

// Returns false if more of the text is needed. A code point that does not join begins a segment, which ends before the
// next such code point: segments do not affect each other's NFKC forms. Nearly all segments are one code point that
// becomes one.
bool NormalisedText::scan(std::size_t limit, bool is_whole) {
  const std::size_t n = written_.text_.size();
  written_.segments_.clear();
  composed_.n_read_ = 0;
  has_nfkc_form_ = false;
  UnitWriter writer(gaps_);
  grow(written_.n_units_, n + 1);
  make_room(0, n);
  written_.n_units_[0] = composed_.n_units_[0] = 0;
  std::size_t i = 0;
  while (i < n && writer.n_units() <= limit) {
    const char32_t c = written_.text_[i];
    const NormalisationClass& of_c = normalisation_class(c);
    const bool is_last = i + 1 == n;
    const bool joins_next = !is_last && normalisation_class(written_.text_[i + 1]).has(NormalisationClass::kJoins);
    if (joins_next || of_c.has(NormalisationClass::kExpands)) {
      const std::size_t end = end_of_segment(i);
      if (end == n && !is_whole) return false;
      take_segment(i, end, writer);
      i = end;
      continue;
    }
    if (is_last && !is_whole) return false;
    composed_.text_[composed_.n_read_++] = c + static_cast<char32_t>(of_c.nfkc_shift);
    has_nfkc_form_ |= of_c.nfkc_shift != 0;
    writer.put(c, of_c, &units_[writer.n_units()]);
    written_.n_units_[++i] = composed_.n_units_[composed_.n_read_] = static_cast<std::uint32_t>(writer.n_units());
  }
  written_.n_read_ = i;
  n_units_ = writer.n_units();
  return true;
}

std::size_t NormalisedText::end_of_segment(std::size_t begin) const {
  const auto joins = [](char32_t c) { return normalisation_class(c).has(NormalisationClass::kJoins); };
  const std::span behind = std::span(written_.text_).subspan(begin + 1);
  return begin + 1 + static_cast<std::size_t>(std::ranges::find_if_not(behind, joins) - behind.begin());
}

void NormalisedText::take_segment(std::size_t begin, std::size_t end, UnitWriter& writer) {
  const std::span written = std::span(written_.text_).subspan(begin, end - begin);
  if (end - begin > 1) written_.segments_.push_back({begin, writer});
  to_nfkc(written, segment_);
  has_nfkc_form_ |= !std::ranges::equal(segment_, written);
  make_room(writer.n_units(), segment_.size() + written_.text_.size() - end);
  for (const char32_t c : segment_) {
    writer.put(c, normalisation_class(c), &units_[writer.n_units()]);
    composed_.text_[composed_.n_read_++] = c;
    composed_.n_units_[composed_.n_read_] = static_cast<std::uint32_t>(writer.n_units());
  }
  std::fill(&written_.n_units_[begin + 1], &written_.n_units_[end], kWithin);
  written_.n_units_[end] = static_cast<std::uint32_t>(writer.n_units());
}

// Makes room for units and characters behind those that are there. A character makes a unit, or has a gap before it or
// a waiting full stop that makes one more, but the characters of these have none.
void NormalisedText::make_room(std::size_t n_units, std::size_t n_more) {
  grow(units_, n_units + n_more + 2);
  grow(composed_.text_, composed_.n_read_ + n_more);
  grow(composed_.n_units_, composed_.n_read_ + n_more + 1);
}

}  // namespace pfgen
