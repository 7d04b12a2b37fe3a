// Properties of code points by Unicode 13.0, in which all later code points are unassigned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pfgen {

// The classes of code points that Japanese words are made of.
enum class Script : std::uint8_t { kOther, kHiragana, kKatakana, kKanji, kAlphanumeric };

// Properties of a code point: bits, and among them its class.
using Traits = std::uint16_t;
inline constexpr Traits kJoins = 1;  // a part of the character before it
inline constexpr Traits kAlphanumeric = 2;
inline constexpr Traits kSpace = 4;
inline constexpr Traits kCapital = 8;
inline constexpr Traits kAssigned = 16;
inline constexpr unsigned kScriptShift = 5;
inline constexpr Traits kScriptMask = 7;
inline constexpr Traits kPunctuation = 1 << 8;     // the general categories P,
inline constexpr Traits kSymbol = 1 << 9;          // S,
inline constexpr Traits kNumber = 1 << 10;         // and N
inline constexpr Traits kCased = 1 << 11;          // and not ignorable
inline constexpr Traits kCaseIgnorable = 1 << 12;  // skipped by the rule of the final sigma
inline constexpr Traits kLowered = 1 << 13;        // different in lower case

inline constexpr char32_t kZeroWidthJoiner = 0x200D;  // the next code point joins too
inline constexpr char32_t kProlongedSound = 0x30FC;   // `ー`
inline constexpr char32_t kFirstWide = 0xFF01;        // `！`, the wide form of `!`
inline constexpr char32_t kLastWide = 0xFF5E;
inline constexpr char32_t kWideShift = kFirstWide - U'!';

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

inline bool is_ascii_capital(char32_t c) { return c >= U'A' && c <= U'Z'; }
inline char32_t ascii_lower(char32_t c) { return is_ascii_capital(c) ? c + (U'a' - U'A') : c; }

inline Script script_of(Traits traits) { return static_cast<Script>(traits >> kScriptShift & kScriptMask); }

}  // namespace pfgen
