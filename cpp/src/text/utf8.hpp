// UTF-8, read strictly: overlong forms, surrogates and code points beyond U+10FFFF are invalid. Several bytes are read
// at once where most texts allow it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pfgen {

// Whether eight bytes of UTF-8 (the first is the lowest) begin with two sequences of three bytes, as nearly all Chinese
// and Japanese characters have. Sequences that begin with E0 or ED are excluded, because their second byte is
// restricted.
inline bool has_two_triples(std::uint64_t bytes) noexcept {
  const auto may_continue = [&](int i) { return (bytes >> 8 * i & 0xFF) != 0xE0 && (bytes >> 8 * i & 0xFF) != 0xED; };
  return (bytes & 0xC0C0F0'C0C0F0) == 0x8080E0'8080E0 && may_continue(0) && may_continue(3);
}

inline bool is_ascii(std::uint64_t bytes) noexcept { return (bytes & 0x8080808080808080) == 0; }

// Length of the UTF-8 sequence at `p`, which has `left` bytes; 0 if it is invalid.
inline std::size_t utf8_sequence_length(const unsigned char* p, std::size_t left) {
  const auto is_continuation = [&](std::size_t i) { return i < left && (p[i] & 0xC0) == 0x80; };
  if (p[0] < 0x80) return 1;
  if (p[0] < 0xC2) return 0;
  if (p[0] < 0xE0) return is_continuation(1) ? 2 : 0;
  if (!is_continuation(1) || !is_continuation(2)) return 0;
  if (p[0] < 0xF0) {
    if (p[0] == 0xE0 && p[1] < 0xA0) return 0;
    if (p[0] == 0xED && p[1] >= 0xA0) return 0;
    return 3;
  }
  if (p[0] > 0xF4 || !is_continuation(3)) return 0;
  if (p[0] == 0xF0 && p[1] < 0x90) return 0;
  if (p[0] == 0xF4 && p[1] >= 0x90) return 0;
  return 4;
}

// Writes the UTF-8 of a code point, up to four bytes, and returns its end; lone surrogates get three bytes.
inline unsigned char* write_utf8(char32_t c, unsigned char* out) {
  const int n_more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr char32_t kLead[]{0x00, 0xC0, 0xE0, 0xF0};
  *out++ = static_cast<unsigned char>(kLead[n_more] | c >> 6 * n_more);
  for (int i = n_more; i-- > 0;) *out++ = static_cast<unsigned char>(0x80 | (c >> 6 * i & 0x3F));
  return out;
}

}  // namespace pfgen
