// Normalised texts: units, prefixes, and that reading is linear. Python compares each code point with the oracle.
#include "makers/check.hpp"
#include "makers/normalised.hpp"
#include "makers/random.hpp"

namespace pfgen::test {

TEST(texts_are_normalised) {
  CHECK(units_of(U"ＡＢＣ、ｶﾞか\x3099") == U"abcガが");
  CHECK(units_of(U"１．５ 1. 5 a.b") == U"1.515ab");
  CHECK(units_of(U"\x1112\x1161\x11AB하\x11AB") == U"한한");
  CHECK(units_of(U"e\x0323\x0302 ạ\x0302") == U"ệậ");
  CHECK(units_of(U"\x0378\xD800\x200B\xFDFA").size() == 15);
  CHECK(units_of(U"\x0301 İ Ⅻ ㈱") == U"\x0301ixii株");
  CHECK(units_of(U" It's 1.5, no? ", Gaps::kSpaces) == U"it s 1.5 no");
}

TEST(prefixes_have_the_units_of_texts_of_their_own) {
  constexpr TextRef kParts = U"aeか１5.．、 \x0301\x0323\x3099ﾞｶ\x1112\x1161\x11AB하\xFDFA\x0378\xD800…⒈İ";
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    const Text text = random.text(kParts, random.between(0, 12));
    CHECK(prefixes_follow(text, Gaps::kNothing) && prefixes_follow(text, Gaps::kSpaces));
  }
}

TEST(text_without_units_is_read_to_its_end) {
  NormalisedText read;
  const Text text = Text(200, U'x') + Text(100'000, U' ');
  CHECK(read.read(view(text), 200) == kNoError);
  CHECK(read.form(0).cut(200).size() == text.size() && read.units().size() == 200);
  CHECK(read.read(view(text + U'x'), 200) == kNoError);
  CHECK(read.form(0).cut(200).size() == text.size() && read.units().size() == 201);
}

TEST(many_marks_are_sorted_and_counted) {
  Text text(1, U'e');
  for (int i = 0; i < 50'000; ++i) text += U"\x0301\x0323";
  NormalisedText read;
  CHECK(read.read(view(text), 200) == kNoError);
  // `e` composes with one mark of each kind; behind it come the others, first those below the letter.
  CHECK(read.units()[0] == U'ẹ' && read.units()[1] == 0x0323 && read.units().size() == 100'000);
  CHECK(read.form(0).position(5) == 4 && read.form(0).cut(200).size() == 201);
}

TEST(invalid_bytes_are_named) {
  NormalisedText read;
  CHECK(read.read(kInvalid, 200) == 1);
}

}  // namespace pfgen::test
