#include <algorithm>
#include <iterator>

#include "pfgen/tokenizer.hpp"
#include "references/replacing.hpp"
#include "text/unicode.hpp"

namespace pfgen {
namespace {

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kSigma = 0x3C3;
constexpr char32_t kFinalSigma = 0x3C2;
constexpr std::u32string_view kDottedCapitalI = U"\u0130";
constexpr std::u32string_view kDottedSmallI = U"i\u0307";

bool is_cased(char32_t c) { return (traits_of(c) & kCased) != 0; }
bool is_ignorable(char32_t c) { return (traits_of(c) & kCaseIgnorable) != 0; }

// A capital sigma becomes a final one if it ends a word: behind a cased letter, and not before one.
char32_t lower_sigma(std::u32string_view text, std::size_t at) {
  const char32_t* const first = text.data();
  const char32_t* const sigma = first + at;
  const auto before = std::find_if_not(std::reverse_iterator(sigma), std::reverse_iterator(first), is_ignorable);
  if (before.base() == first || !is_cased(*before)) return kSigma;
  const char32_t* const end = first + text.size();
  const auto* const after = std::find_if_not(sigma + 1, end, is_ignorable);
  return after != end && is_cased(*after) ? kSigma : kFinalSigma;
}

char32_t lower_by_range(char32_t c) {
  const LowerRange* const end = kLowerRanges + kLowerRangeCount;
  const auto ends_before = [](const LowerRange& range, char32_t value) { return range.last < value; };
  const LowerRange& range = *std::lower_bound(kLowerRanges, end, c, ends_before);
  return static_cast<char32_t>(static_cast<std::int32_t>(c) + range.distance);
}

}  // namespace

void lower(std::u32string& text) {
  replace_all(text, kDottedCapitalI, kDottedSmallI);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c < 0x80) {
      text[i] = ascii_lower(c);
    } else if (c == kCapitalSigma) {
      text[i] = lower_sigma(text, i);  // it does not matter that the text before `i` is in lower case
    } else if ((traits_of(c) & kLowered) != 0) {
      text[i] = lower_by_range(c);
    }
  }
}

}  // namespace pfgen
