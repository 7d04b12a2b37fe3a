#include "pfgen/normalised_text.hpp"

#include <algorithm>

#include "text/nfkc.hpp"
#include "text/normalisation_table.hpp"

namespace pfgen {
namespace {

// Code points that are decoded at first: nearly always enough.
constexpr std::size_t kFirstRead = 384;
constexpr std::size_t kReadMore = 8;
// Memory for more units is not kept for the next text.
constexpr std::size_t kMostKept = 1 << 16;

// A character in NFKC comes from at most so many code points, without those that become several.
constexpr std::size_t kMostComposed = 4;

}  // namespace

std::size_t NormalisedText::read(const TextView& text, std::size_t limit) {
  if (units_.size() > kMostKept) *this = NormalisedText();
  for (std::size_t n_read = limit == kNoError ? kNoError : kFirstRead;; n_read *= kReadMore) {
    const std::size_t invalid = decode(text, n_read, written_.text);
    if (invalid != kNoError) return invalid;
    if (scan(limit, written_.text.size() < n_read)) return kNoError;
  }
}

// Returns false if more of the text is needed. A character that does not join begins a segment, which ends before the
// next such character: segments do not affect each other's NFKC forms. Nearly all segments are one character that
// becomes one.
bool NormalisedText::scan(std::size_t limit, bool is_whole) {
  const std::size_t n = written_.text.size();
  n_units_ = n_composed_ = 0;
  before_ = Before::kOther;
  has_two_forms_ = false;
  if (written_.n_units.size() <= n) written_.n_units.resize(n + 1);
  make_room(n);
  written_.n_units[0] = composed_.n_units[0] = 0;
  std::size_t n_counted = 0;
  for (std::size_t i = 0; i < n && n_units_ <= limit;) {
    if (i + 1 == n && !is_whole) return false;
    const char32_t c = written_.text[i];
    const NormalisationClass& of_c = normalisation_class(c);
    const bool joins_next = i + 1 < n && normalisation_class(written_.text[i + 1]).has(NormalisationClass::kJoins);
    if (joins_next || of_c.has(NormalisationClass::kExpands)) {
      const std::size_t end = end_of_segment(i);
      if (end == n && !is_whole) return false;
      make_room(n - i);
      n_counted = take_segment(i, end, limit);
      i = end;
      continue;
    }
    composed_.text[n_composed_++] = c + static_cast<char32_t>(of_c.nfkc_shift);
    has_two_forms_ |= of_c.nfkc_shift != 0;
    put(c, of_c);
    n_counted = ++i;
    written_.n_units[i] = composed_.n_units[n_composed_] = static_cast<std::uint32_t>(n_units_);
  }
  written_.cut_back(n_counted, limit);
  composed_.cut_back(n_composed_, limit);
  return true;
}

std::size_t NormalisedText::end_of_segment(std::size_t begin) const {
  const auto joins = [](char32_t c) { return normalisation_class(c).has(NormalisationClass::kJoins); };
  const auto first = written_.text.begin();
  return static_cast<std::size_t>(
      std::find_if_not(first + static_cast<std::ptrdiff_t>(begin) + 1, written_.text.end(), joins) - first);
}

// Returns the length of the longest prefix whose units are counted; longer ones have more than `limit`.
std::size_t NormalisedText::take_segment(std::size_t begin, std::size_t end, std::size_t limit) {
  const auto part = [&](std::size_t until) { return std::span(written_.text).subspan(begin, until - begin); };
  const auto put_all = [&](bool is_last) {
    make_room(segment_.size() + written_.text.size() - begin);
    for (const char32_t c : segment_) {
      put(c, normalisation_class(c));
      if (!is_last) continue;
      composed_.text[n_composed_++] = c;
      composed_.n_units[n_composed_] = static_cast<std::uint32_t>(n_units_);
    }
  };
  std::size_t counted = begin;
  // Each unit comes from at most kMostComposed code points, except the units of the first.
  while (limit != kNoError && counted < end && counted - begin <= kMostComposed * (limit + 1)) {
    const std::size_t n_units = n_units_;
    const Before before = before_;
    to_nfkc(part(++counted), segment_);
    put_all(false);
    written_.n_units[counted] = static_cast<std::uint32_t>(n_units_);
    n_units_ = n_units;
    before_ = before;
  }
  to_nfkc(part(end), segment_);
  put_all(true);
  has_two_forms_ |= !std::ranges::equal(segment_, part(end));
  return counted;
}

// Makes room behind what is there.
void NormalisedText::make_room(std::size_t n_more) {
  const auto grow = [](auto& items, std::size_t n) {
    if (items.size() < n) items.resize(std::max(n, 2 * items.size()));
  };
  grow(units_, n_units_ + n_more + 2);  // a full stop that waits for a digit, and a character that is no unit
  grow(composed_.text, n_composed_ + n_more);
  grow(composed_.n_units, n_composed_ + n_more + 1);
}

// `c` becomes one character.
inline void NormalisedText::put(char32_t c, const NormalisationClass& of_c) {
  if (of_c.has(NormalisationClass::kStop)) {
    before_ = before_ == Before::kDigit ? Before::kStopAfterDigit : Before::kOther;
    return;
  }
  const bool is_digit = of_c.has(NormalisationClass::kDigit);
  if (is_digit && before_ == Before::kStopAfterDigit) units_[n_units_++] = U'.';
  before_ = is_digit ? Before::kDigit : Before::kOther;
  units_[n_units_] = c + static_cast<char32_t>(of_c.unit_shift);
  n_units_ += of_c.flags & NormalisationClass::kUnit;
}

// Where marks compose, a longer prefix may have fewer units.
void NormalisedText::Form::cut_back(std::size_t n_counted, std::size_t limit) {
  n_cut = n_counted;
  while (limit != kNoError && n_units[n_cut] > limit) --n_cut;
}

}  // namespace pfgen
