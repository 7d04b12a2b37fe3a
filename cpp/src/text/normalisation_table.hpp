// How characters are normalised (docs/scoring.md, section 10) by Unicode 13.0, in which all later code points are
// unassigned. The table is written by tools/make_normalisation_table.py.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pfgen {

struct NormalisationClass {
  // Flags of the character that a code point becomes: it is a unit, a decimal digit, a full stop.
  static constexpr std::uint8_t kUnit = 1;
  static constexpr std::uint8_t kDigit = 2;
  static constexpr std::uint8_t kStop = 4;
  // Flags of the code point itself: it may compose with, or change places with, a character before it; it becomes
  // several characters, whose classes say more. Characters that join have units for all their parts.
  static constexpr std::uint8_t kJoins = 8;
  static constexpr std::uint8_t kExpands = 16;

  std::int32_t nfkc_shift;  // from the code point to its NFKC form
  std::int32_t unit_shift;  // from the code point to its unit
  std::uint8_t flags;
  std::uint8_t combining_class;

  bool has(std::uint8_t any_of) const noexcept { return (flags & any_of) != 0; }
};

struct Composition {
  char32_t first;
  char32_t second;
  char32_t composite;
};

inline constexpr std::size_t kCharactersPerBlock = 128;
extern const std::uint8_t kNormalisationBlocks[];                         // of each 128 code points
extern const std::uint16_t kNormalisationClasses[][kCharactersPerBlock];  // of each block, numbers of classes
extern const NormalisationClass kClassOfNumber[];

// The code points with parts, without syllables of Hangul, in order; and where the full decomposition of each ends.
extern const std::size_t kDecomposedCount;
extern const char32_t kDecomposed[];
extern const std::uint16_t kPartsEnd[];
extern const char32_t kParts[];

extern const std::size_t kCompositionCount;
extern const Composition kCompositions[];  // in order

// `c` is at most U+10FFFF.
inline const NormalisationClass& normalisation_class(char32_t c) noexcept {
  return kClassOfNumber[kNormalisationClasses[kNormalisationBlocks[c / kCharactersPerBlock]][c % kCharactersPerBlock]];
}

}  // namespace pfgen
