#include "text/nfkc.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "text/normalisation_table.hpp"

namespace pfgen {
namespace {

// Syllables of Hangul: a lead, a vowel and perhaps a final, each numbered from its first one.
constexpr char32_t kFirstSyllable = 0xAC00;
constexpr char32_t kFirstLead = 0x1100;
constexpr char32_t kFirstVowel = 0x1161;
constexpr char32_t kNoFinal = 0x11A7;  // before the first final
constexpr char32_t kLeads = 19;
constexpr char32_t kVowels = 21;
constexpr char32_t kFinals = 28;  // with none
constexpr char32_t kSyllables = kLeads * kVowels * kFinals;

constexpr char32_t kNothing = 0xFFFFFFFF;  // where two code points do not compose

void decompose(char32_t c, std::vector<char32_t>& out) {
  if (const char32_t syllable = c - kFirstSyllable; syllable < kSyllables) {
    out.push_back(kFirstLead + syllable / (kVowels * kFinals));
    out.push_back(kFirstVowel + syllable % (kVowels * kFinals) / kFinals);
    if (syllable % kFinals != 0) out.push_back(kNoFinal + syllable % kFinals);
    return;
  }
  const char32_t* const last = kDecomposed + kDecomposedCount;
  const char32_t* const match = std::lower_bound(kDecomposed, last, c);
  if (match == last || *match != c) {
    out.push_back(c);
    return;
  }
  const std::ptrdiff_t number = match - kDecomposed;
  out.insert(out.end(), kParts + (number == 0 ? 0 : kPartsEnd[number - 1]), kParts + kPartsEnd[number]);
}

std::uint8_t combining_class(char32_t c) { return normalisation_class(c).combining_class; }

// Sorts each run of combining characters by their classes.
void reorder(std::vector<char32_t>& text) {
  const auto is_starter = [](char32_t c) { return combining_class(c) == 0; };
  const auto is_before = [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); };
  for (auto at = text.begin(); at != text.end();) {
    at = std::find_if_not(at, text.end(), is_starter);
    const auto end = std::find_if(at, text.end(), is_starter);
    if (!std::is_sorted(at, end, is_before)) std::stable_sort(at, end, is_before);
    at = end;
  }
}

char32_t composite_of(char32_t first, char32_t second) {
  if (first - kFirstLead < kLeads && second - kFirstVowel < kVowels) {
    return kFirstSyllable + ((first - kFirstLead) * kVowels + (second - kFirstVowel)) * kFinals;
  }
  const char32_t syllable = first - kFirstSyllable;
  if (syllable < kSyllables && syllable % kFinals == 0 && second - kNoFinal - 1 < kFinals - 1) {
    return first + (second - kNoFinal);
  }
  const auto key = [](const Composition& composition) { return std::tuple(composition.first, composition.second); };
  const Composition* const last = kCompositions + kCompositionCount;
  const Composition* const match = std::ranges::lower_bound(kCompositions, last, std::tuple(first, second), {}, key);
  return match != last && key(*match) == std::tuple(first, second) ? match->composite : kNothing;
}

// A character composes with the last starter unless a character between them has at least its class.
void compose(std::vector<char32_t>& text) {
  constexpr unsigned kBlocked = 256;  // before the first starter
  std::size_t n = 0;
  std::size_t starter = 0;
  unsigned last_class = kBlocked;
  for (const char32_t c : text) {
    const unsigned own_class = combining_class(c);
    if (last_class < own_class || last_class == 0) {
      const char32_t composite = composite_of(text[starter], c);
      if (composite != kNothing) {
        text[starter] = composite;
        continue;
      }
    }
    if (own_class == 0) starter = n;
    last_class = own_class == 0 ? 0 : last_class == kBlocked ? kBlocked : own_class;
    text[n++] = c;
  }
  text.resize(n);
}

}  // namespace

void to_nfkc(std::span<const char32_t> text, std::vector<char32_t>& out) {
  out.clear();
  for (const char32_t c : text) decompose(c, out);
  reorder(out);
  compose(out);
}

}  // namespace pfgen
