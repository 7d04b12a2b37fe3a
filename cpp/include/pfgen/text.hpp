// Input text: borrowed bytes in one of four encodings, read as code points.
//
// A TextView owns nothing; its creator keeps the bytes alive. Any code point is accepted (NUL, lone surrogates of a
// Python str); only UTF-8 can be invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pfgen {

// kUcs4 units are at most U+10FFFF, as in every Python str.
enum class Encoding : std::uint8_t { kLatin1, kUcs2, kUcs4, kUtf8 };

// Bytes of one code unit.
inline constexpr std::size_t unit_size(Encoding encoding) noexcept {
  return encoding == Encoding::kUcs2 ? 2 : encoding == Encoding::kUcs4 ? 4 : 1;
}

struct TextView {
  const void* data = nullptr;
  std::size_t n_units = 0;  // code units of the encoding: bytes, 16-bit or 32-bit units
  Encoding encoding = Encoding::kUtf8;
  bool is_null = false;  // a missing value of a column, not an empty text
};

inline constexpr std::size_t kNoError = static_cast<std::size_t>(-1);

// Replaces `code_points` with the first `limit` code points of `text`. UTF-8 is validated to its end, also
// past the limit. Returns kNoError, or the byte offset of the first invalid UTF-8 sequence.
std::size_t decode(const TextView& text, std::size_t limit, std::vector<char32_t>& code_points);

// Whether two texts have the same code points, in any encodings. The texts must not be null; UTF-8 must be valid.
bool are_equal(const TextView& a, const TextView& b);

}  // namespace pfgen
