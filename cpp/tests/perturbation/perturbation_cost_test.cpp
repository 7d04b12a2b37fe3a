// The time of every kind is proportional to the length of any text: a text of twice the length runs about twice the
// basic blocks (block_counter.hpp).
#include <algorithm>
#include <cstdio>
#include <string>

#include "makers/block_counter.hpp"
#include "makers/check.hpp"
#include "makers/perturbed.hpp"

namespace pfgen::test {

constexpr std::size_t kLength = 1 << 12;
constexpr double kMost = 2.3;

Text repeated(TextRef piece, std::size_t n_code_points) {
  Text text;
  while (text.size() < n_code_points) text += piece;
  return text;
}

// Distinct words and terms.
Text numbered(TextRef before, TextRef behind, std::size_t n_code_points) {
  Text text;
  for (std::size_t i = 0; text.size() < n_code_points; ++i) {
    text += before;
    for (std::size_t rest = i + 1; rest > 0; rest /= 26) text += static_cast<char32_t>(U'a' + rest % 26);
    text += behind;
  }
  return text;
}

void check_kind(std::string_view kind, const Text& once, const Text& twice, Language language) {
  Setting setting;
  setting.degrees = {{100}, {300}, {1000}};
  setting.language = language;
  setting.donors = {U"琵琶湖とガラス。", U"We like Mars. "};
  setting.alternative = U"氷。";
  const std::uint64_t n_once = blocks_of([&] { outcomes(kind, {once}, setting); });
  const std::uint64_t n_twice = blocks_of([&] { outcomes(kind, {twice}, setting); });
  const double ratio = static_cast<double>(n_twice) / static_cast<double>(n_once);
  CHECK(ratio < kMost);
  if (ratio >= kMost) std::printf("%s: %.2f times the blocks\n", std::string(kind).c_str(), ratio);
}

TEST(time_is_linear_in_the_length) {
  for (const TextRef piece : {U"、",      U"a.",  U"」",     U"(",     U"((A. ",  U". ",      U".          ", U"。」",
                              U"a'",      U"ー",  U"ガー",   U"\x301", U" \x301", U"a\x200D", U"Mars ",       U"です。",
                              U"is not ", U"n't", U"富士と", U"\n",    U" ",      U"1、",     U"a b ",        U"Ａ"}) {
    for (const Language language : {Language::kJapanese, Language::kEnglish}) {
      for (const std::string_view kind : perturbation_kinds()) {
        check_kind(kind, repeated(piece, kLength), repeated(piece, 2 * kLength), language);
      }
    }
  }
  for (const std::string_view kind : perturbation_kinds()) {
    check_kind(kind, numbered(U" A", U"", kLength), numbered(U" A", U"", 2 * kLength), Language::kEnglish);
    check_kind(kind, numbered(U"A", U". ", kLength), numbered(U"A", U". ", 2 * kLength), Language::kEnglish);
    check_kind(kind, numbered(U"氷水", U"。", kLength), numbered(U"氷水", U"。", 2 * kLength), Language::kJapanese);
  }
}

}  // namespace pfgen::test
