#include "pfgen/text.hpp"

#include <algorithm>
#include <cstring>

#include "system/little_endian.hpp"
#include "text/utf8.hpp"

namespace pfgen {
namespace {

template <class Unit>
void widen(const void* data, std::size_t n, std::vector<char32_t>& out) {
  const Unit* units = static_cast<const Unit*>(data);
  out.assign(units, units + n);
}

// At most U+10FFFF, even if another thread changes the bytes after the check.
char32_t code_point_at(const unsigned char* p, std::size_t length) {
  const auto bits = [&](std::size_t i) { return static_cast<char32_t>(p[i] & 0x3F); };
  switch (length) {
    case 1:
      return p[0];
    case 2:
      return static_cast<char32_t>(p[0] & 0x1F) << 6 | bits(1);
    case 3:
      return static_cast<char32_t>(p[0] & 0x0F) << 12 | bits(1) << 6 | bits(2);
    default:
      return std::min<char32_t>(static_cast<char32_t>(p[0] & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3),
                                0x10FFFF);
  }
}

std::size_t decode_utf8(const unsigned char* bytes, std::size_t n, std::size_t limit, std::vector<char32_t>& out) {
  out.resize(std::min(n, limit));
  std::size_t at = 0;
  std::size_t count = 0;
  while (at < n && count < limit) {
    if (n - at >= 8 && limit - count >= 2 && has_two_triples(number_at<std::uint64_t>(bytes + at))) {
      out[count++] = code_point_at(bytes + at, 3);
      out[count++] = code_point_at(bytes + at + 3, 3);
      at += 6;
      continue;
    }
    const std::size_t length = utf8_sequence_length(bytes + at, n - at);
    if (length == 0) return at;
    out[count++] = code_point_at(bytes + at, length);
    at += length;
  }
  out.resize(count);
  while (at < n) {
    if (n - at >= 8) {
      const std::uint64_t next = number_at<std::uint64_t>(bytes + at);
      const std::size_t known = has_two_triples(next) ? 6 : is_ascii(next) ? 8 : 0;
      at += known;
      if (known > 0) continue;
    }
    const std::size_t length = utf8_sequence_length(bytes + at, n - at);
    if (length == 0) return at;
    at += length;
  }
  return kNoError;
}

}  // namespace

std::size_t decode(const TextView& text, std::size_t limit, std::vector<char32_t>& code_points) {
  const std::size_t n = std::min(text.n_units, limit);
  switch (text.encoding) {
    case Encoding::kLatin1:
      widen<unsigned char>(text.data, n, code_points);
      break;
    case Encoding::kUcs2:
      widen<std::uint16_t>(text.data, n, code_points);
      break;
    case Encoding::kUcs4:
      widen<std::uint32_t>(text.data, n, code_points);
      break;
    case Encoding::kUtf8:
      return decode_utf8(static_cast<const unsigned char*>(text.data), text.n_units, limit, code_points);
  }
  return kNoError;
}

bool are_equal(const TextView& a, const TextView& b) {
  if (a.encoding == b.encoding) {
    const std::size_t n_bytes = a.n_units * unit_size(a.encoding);
    return a.n_units == b.n_units && (n_bytes == 0 || std::memcmp(a.data, b.data, n_bytes) == 0);
  }
  std::vector<char32_t> of_a;
  std::vector<char32_t> of_b;
  decode(a, a.n_units, of_a);
  decode(b, b.n_units, of_b);
  return of_a == of_b;
}

}  // namespace pfgen
