// Properties of code points by Unicode 13.0, in which all later code points are unassigned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pfgen {

// Properties of a code point, as bits.
using Traits = std::uint8_t;
inline constexpr Traits kAlphanumeric = 1;
inline constexpr Traits kSpace = 2;
inline constexpr Traits kPunctuation = 4;     // the general categories P,
inline constexpr Traits kSymbol = 8;          // S,
inline constexpr Traits kNumber = 16;         // and N
inline constexpr Traits kCased = 32;          // and not ignorable
inline constexpr Traits kCaseIgnorable = 64;  // skipped by the rule of the final sigma
inline constexpr Traits kLowered = 128;       // different in lower case

inline constexpr std::size_t kTraitsPerBlock = 128;
extern const std::uint8_t kBlockOfCodePoints[];  // of each 128 code points
extern const Traits kTraits[][kTraitsPerBlock];  // of each block

// Each `step`-th code point of a range has its lower case `distance` code points later.
struct LowerRange {
  char32_t first;
  char32_t last;
  char32_t step;
  std::int32_t distance;
};
extern const LowerRange kLowerRanges[];  // sorted; all code points but U+0130, whose lower case has two
extern const std::size_t kLowerRangeCount;

// `c` is at most U+10FFFF.
inline Traits traits_of(char32_t c) { return kTraits[kBlockOfCodePoints[c / kTraitsPerBlock]][c % kTraitsPerBlock]; }

inline bool is_space(char32_t c) { return (traits_of(c) & kSpace) != 0; }

inline bool is_ascii_capital(char32_t c) { return c >= U'A' && c <= U'Z'; }
inline char32_t ascii_lower(char32_t c) { return is_ascii_capital(c) ? c + (U'a' - U'A') : c; }

}  // namespace pfgen
