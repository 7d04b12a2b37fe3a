// Reading of texts: four encodings, limits, and every way in which UTF-8 can be invalid.
#include <algorithm>

#include "makers/check.hpp"
#include "makers/random.hpp"

namespace pfgen::test {

// A sequence is valid if encoding its value gives the same bytes.
std::size_t first_invalid(const std::vector<unsigned char>& bytes) {
  constexpr std::array<unsigned, 4> kLeadBits{0x7F, 0x1F, 0x0F, 0x07};
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t length = 0;
    for (std::size_t n = 1; n <= 4 && at + n <= bytes.size(); ++n) {
      char32_t value = bytes[at] & kLeadBits[n - 1];
      for (std::size_t i = 1; i < n; ++i) value = value << 6 | (bytes[at + i] & 0x3FU);
      const bool is_scalar = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
      const auto encoded = utf8(Text(1, value));
      if (is_scalar && encoded.size() == n && std::equal(encoded.begin(), encoded.end(), &bytes[at])) length = n;
    }
    if (length == 0) return at;
    at += length;
  }
  return kNoError;
}

Text decoded(const TextView& text, std::size_t limit = kNoError) {
  std::vector<char32_t> code_points{U'?', U'?'};
  CHECK(decode(text, limit, code_points) == kNoError);
  return {code_points.begin(), code_points.end()};
}

TEST(every_encoding_gives_the_same_code_points) {
  const std::vector<unsigned char> latin{0x00, 0x41, 0x7F, 0x80, 0xE9, 0xFF};
  const std::vector<std::uint16_t> ucs2{0x00, 0x41, 0x3042, 0xD83D, 0xDE00, 0xFFFF};
  Text ucs4{0x00, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFEFF, 0xFFFF, 0x10000, 0x10FFFF};
  CHECK(decoded({latin.data(), latin.size(), Encoding::kLatin1}) == Text({0x00, 0x41, 0x7F, 0x80, 0xE9, 0xFF}));
  CHECK(decoded({ucs2.data(), ucs2.size(), Encoding::kUcs2}) == Text({0, 0x41, 0x3042, 0xD83D, 0xDE00, 0xFFFF}));
  const auto bytes = utf8(ucs4);
  for (std::size_t limit = 0; limit <= ucs4.size() + 1; ++limit) {
    CHECK(decoded(view(bytes), limit) == ucs4.substr(0, limit));
    CHECK(decoded(view(ucs4), limit) == ucs4.substr(0, limit));
    CHECK(decoded({latin.data(), latin.size(), Encoding::kLatin1}, limit).size() == std::min(limit, latin.size()));
    CHECK(decoded({ucs2.data(), ucs2.size(), Encoding::kUcs2}, limit).size() == std::min(limit, ucs2.size()));
  }
  ucs4.push_back(0xDC00);
  CHECK(decoded(view(ucs4)).back() == 0xDC00);
  for (const Encoding encoding : {Encoding::kLatin1, Encoding::kUcs2, Encoding::kUcs4, Encoding::kUtf8}) {
    CHECK(decoded({nullptr, 0, encoding}).empty());
  }
}

// Stray continuations, no lead; overlong; surrogates; beyond U+10FFFF; truncated: at any place among valid bytes.
TEST(utf8_is_valid_where_it_encodes_again_to_itself) {
  const std::vector<unsigned char> edges{0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2,
                                         0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
  Random random(1);
  std::vector<char32_t> code_points;
  std::size_t n_invalid = 0;
  for (int i = 0; i < 60000; ++i) {
    std::vector<unsigned char> bytes = utf8(Text(random.below(20), random.one_in(4) ? U'あ' : U'a'));
    for (std::size_t n = random.below(5); n > 0; --n) bytes.push_back(random.pick(edges));
    bytes.insert(bytes.end(), random.below(10), 'z');
    const std::size_t expected = first_invalid(bytes);
    n_invalid += expected != kNoError;
    CHECK(decode(view(bytes), random.one_in(2) ? kNoError : random.below(30), code_points) == expected);
  }
  CHECK(n_invalid > 10000 && n_invalid < 55000);
}

}  // namespace pfgen::test
