// The kinds of damage: hand-written literals, and what holds for all of them. Whether they follow the rules in each
// code point is tested against the oracle in Python.
#include "pfgen/perturbation.hpp"

#include <algorithm>

#include "makers/check.hpp"
#include "makers/perturbed.hpp"
#include "makers/random.hpp"
#include "pfgen/error.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;
using Kind = PerturbationKind;

const Setting kEnglish{.language = Language::kEnglish};
const Setting kJapanese{.language = Language::kJapanese};

Setting of_k(std::uint64_t k) { return {.degrees = {{k, true}}}; }

bool is_text(const Outcome& found, const Text& expected) { return found == Outcome(expected); }
bool is_reason(const Outcome& found, Impossible expected) { return found == Outcome(expected); }

void all_sites_are_damaged_by_the_highest_degree() {
  CHECK(is_text(outcome(Kind::kCharRepeat, U"氷、a!"), U"氷氷、aa!"));
  CHECK(is_text(outcome(Kind::kCharSwap, U"氷水"), U"水氷"));
  CHECK(is_text(outcome(Kind::kWordRepeat, U"氷は、水", kJapanese), U"氷は氷は、水水"));
  CHECK(is_text(outcome(Kind::kWordRepeat, U"Ice, isn't", kEnglish), U"Ice Ice, isn't isn't"));
  CHECK(is_text(outcome(Kind::kWordSwap, U"氷は、水。", kJapanese), U"水、氷は。"));
  CHECK(is_text(outcome(Kind::kNegate, U"氷です。\n水はある。", kJapanese), U"氷ではありません。\n水はない。"));
  CHECK(is_text(outcome(Kind::kNegate, U"It is. He can't. I Won’t. DO NOT.", kEnglish),
                U"It is not. He can. I Will. DO NOT."));
  CHECK(is_text(outcome(Kind::kSentenceReorder, U" One. Two!\n", kEnglish), U" Two! One.\n"));
  CHECK(is_text(outcome(Kind::kSentenceRepeat, U"氷。 水。", kJapanese), U"氷。氷。 水。 水。"));
  CHECK(is_text(outcome(Kind::kSentenceRepeat, U"Ice. \n", kEnglish), U"Ice. Ice. \n"));
  CHECK(is_text(outcome(Kind::kLoop, U"氷", of_k(3)), U"氷氷氷氷"));
  CHECK(is_text(outcome(Kind::kTruncate, U"氷水。", of_k(2)), U"氷"));
  CHECK(is_text(outcome(Kind::kIdentity, U"氷"), U"氷"));
  CHECK(is_text(outcome(Kind::kNewline, U"氷"), U"氷\n"));
  CHECK(is_text(outcome(Kind::kPunctuation, U"氷、水。", kJapanese), U"氷，水．"));
  CHECK(is_text(outcome(Kind::kPunctuation, U"\"It's\" ('no')", kEnglish), U"“It’s” (‘no’)"));
  CHECK(is_text(outcome(Kind::kWidth, U"a9。", kJapanese), U"ａ９。"));
}

void parts_of_other_texts_are_put_in() {
  const Setting japanese{.language = Language::kJapanese, .donors = {U"琵琶湖だ。", U"水。"}};
  CHECK(is_text(
      outcome(Kind::kTermSwap, U"富士山と富士山、富士。", {.language = Language::kJapanese, .donors = {U"琵琶湖だ。"}}),
      U"琵琶湖と琵琶湖、琵琶湖。"));
  CHECK(is_text(outcome(Kind::kSentenceInsert, U"水。氷。", japanese), U"水。琵琶湖だ。氷。琵琶湖だ。"));
  CHECK(is_text(outcome(Kind::kAnswerSwap, U"水。", japanese), U"琵琶湖だ。"));
  CHECK(is_text(outcome(Kind::kWrongEnding, U"水。", {.alternative = U"氷。"}), U"氷。"));
  CHECK(is_reason(outcome(Kind::kTermSwap, U"富士山。", {.donors = {U"富士山。"}}), Impossible::kNoCandidate));
  CHECK(is_reason(outcome(Kind::kSentenceInsert, U"水。", {.donors = {U" 水。", U""}}), Impossible::kNoCandidate));
  CHECK(is_reason(outcome(Kind::kAnswerSwap, U"水。", {.donors = {U"水。"}}), Impossible::kNoCandidate));
  CHECK(is_reason(outcome(Kind::kWrongEnding, U"水。"), Impossible::kNoCandidate));
}

void damage_that_cannot_be_has_a_reason() {
  for (const Kind kind : all_kinds()) {
    const bool takes_another = kind == Kind::kAnswerSwap || kind == Kind::kWrongEnding;
    const bool is_blank = kind == Kind::kIdentity || kind == Kind::kNewline;
    CHECK(is_reason(outcome(kind, U""), takes_another ? Impossible::kNoCandidate
                                        : is_blank    ? Impossible::kNothingLeft
                                                      : Impossible::kNoSite));
  }
  CHECK(is_reason(outcome(Kind::kCharDelete, U"氷。"), Impossible::kTooFewSites));
  CHECK(is_reason(outcome(Kind::kCharDelete, U"氷水", of_k(2)), Impossible::kTooFewSites));
  CHECK(is_reason(outcome(Kind::kCharTypo, U"氷水", of_k(3)), Impossible::kTooFewSites));
  CHECK(is_reason(outcome(Kind::kCharSwap, U"氷水火", of_k(2)), Impossible::kTooFewSites));
  CHECK(is_reason(outcome(Kind::kWordSwap, U"ice Ice ice", of_k(2)), Impossible::kTooFewSites));
  CHECK(is_reason(outcome(Kind::kSentenceDelete, U"氷。"), Impossible::kTooFewSites));
  CHECK(is_reason(outcome(Kind::kSentenceReorder, U"氷。水。", of_k(3)), Impossible::kTooFewSites));
  CHECK(is_reason(outcome(Kind::kSentenceReorder, U"氷。氷。"), Impossible::kUnchanged));
  CHECK(is_reason(outcome(Kind::kWidth, U"a9", kEnglish), Impossible::kNoSite));
  CHECK(is_reason(outcome(Kind::kIdentity, U" \x301\n"), Impossible::kNothingLeft));
  CHECK(is_reason(outcome(Kind::kTruncate, U" 氷", of_k(1)), Impossible::kNothingLeft));
}

// What can be told apart: words, sentences, numbers, quotes, kana of all kinds, and what joins a character.
Text drawn_text(Random& random) {
  static const std::vector<Text> kPieces{U"富士山は", U"ガラスの", U"氷です。", U"12",       U"ｱｲｽー",
                                         U"Mars ",    U"isn't ",   U"the ",     U"\"No.\" ", U"can ",
                                         U"\n",       U" ",        U"、",       U"\x301",    U"\x200D",
                                         U"👩",       U"\xD800",   U"a",        U"氷",       Text(1, U'\0')};
  Text text;
  for (std::size_t n = random.below(12); n > 0; --n) text += random.pick(kPieces);
  return text;
}

Setting drawn_setting(Random& random) {
  Setting setting;
  setting.degrees.clear();
  for (std::size_t n = random.between(1, 4); n > 0; --n) {
    setting.degrees.push_back(random.one_in(2) ? Degree{random.between(1, 1000)} : Degree{random.between(1, 9), true});
  }
  setting.language = random.one_in(2) ? Language::kJapanese : Language::kEnglish;
  for (std::size_t n = random.below(3); n > 0; --n) setting.donors.push_back(drawn_text(random));
  setting.alternative = drawn_text(random);
  setting.seed = random.below(3);
  return setting;
}

// The characters of a text, of which each is there at most as often as it may be.
std::vector<Text> characters(const Text& text) {
  Original original;
  original.read(text, Language::kEnglish);
  std::vector<Text> all;
  for (std::size_t i = 0; i < original.n_characters(); ++i) all.emplace_back(original.view(original.character(i)));
  return all;
}

void a_damaged_text_is_another_and_not_blank() {
  Random random(91);
  std::size_t n_texts = 0;
  for (int i = 0; i < 1500; ++i) {
    const Text text = drawn_text(random);
    const Setting setting = drawn_setting(random);
    for (const Kind kind : all_kinds()) {
      for (const auto& column : outcomes(kind, {text}, setting)) {
        const Text* damaged = std::get_if<Text>(&column[0]);
        if (damaged == nullptr) continue;
        ++n_texts;
        CHECK((*damaged == text) == (kind == Kind::kIdentity));
        const std::vector<Text> left = characters(*damaged);
        CHECK(std::any_of(left.begin(), left.end(), [](const Text& c) { return c[0] != U' ' && c[0] != U'\n'; }));
      }
    }
  }
  CHECK(n_texts > 10'000);
}

// Of texts at whose ends nothing joins what is moved there.
void no_character_is_split() {
  Random random(92);
  std::size_t n_texts = 0;
  for (int i = 0; i < 1500; ++i) {
    const Text text = drawn_text(random);
    if (text.starts_with(U'\x301') || text.starts_with(U'\x200D') || text.ends_with(U'\x200D')) continue;
    const Setting setting = drawn_setting(random);
    const std::vector<Text> known = characters(text);
    for (const Kind kind : {Kind::kCharDelete, Kind::kCharSwap, Kind::kWordDrop, Kind::kWordDelete, Kind::kTruncate,
                            Kind::kSentenceDelete, Kind::kWordSwap}) {
      for (const auto& column : outcomes(kind, {text}, setting)) {
        const Text* damaged = std::get_if<Text>(&column[0]);
        if (damaged == nullptr) continue;
        ++n_texts;
        for (const Text& character : characters(*damaged)) {
          CHECK(std::find(known.begin(), known.end(), character) != known.end());
        }
      }
    }
  }
  CHECK(n_texts > 3000);
}

void neither_batches_nor_threads_nor_other_degrees_matter() {
  Random random(93);
  std::vector<Text> texts;
  for (int i = 0; i < 700; ++i) texts.push_back(drawn_text(random));
  Setting setting = drawn_setting(random);
  setting.degrees = {{100}, {500}, {2, true}};
  for (const Kind kind : all_kinds()) {
    setting.n_threads = 4;
    const auto together = outcomes(kind, texts, setting);
    setting.n_threads = 1;
    CHECK(outcomes(kind, texts, setting) == together);
    for (std::size_t row = 0; row < texts.size(); row += 37) {
      for (std::size_t degree = 0; degree < setting.degrees.size(); ++degree) {
        Setting alone = setting;
        alone.degrees = {setting.degrees[degree]};
        CHECK(outcome(kind, texts[row], alone) == together[degree][row]);
      }
    }
  }
}

// Whether `part` is left of `whole` if code points are taken away.
bool is_part(const Text& part, const Text& whole) {
  std::size_t at = 0;
  for (const char32_t c : part) {
    at = whole.find(c, at);
    if (at++ == Text::npos) return false;
  }
  return true;
}

void a_higher_degree_damages_more() {
  Random random(94);
  std::size_t n_pairs = 0;
  for (int i = 0; i < 1500; ++i) {
    const Text text = drawn_text(random);
    Setting setting = drawn_setting(random);
    setting.degrees = {{100}, {400}, {800}};
    const auto check = [&](Kind kind, bool is_longer) {
      const auto found = outcomes(kind, {text}, setting);
      for (std::size_t degree = 1; degree < found.size(); ++degree) {
        const Text* low = std::get_if<Text>(&found[degree - 1][0]);
        const Text* high = std::get_if<Text>(&found[degree][0]);
        if (low == nullptr || high == nullptr) continue;
        ++n_pairs;
        CHECK(is_longer ? is_part(*low, *high) : is_part(*high, *low));
      }
    };
    for (const Kind kind : {Kind::kCharDelete, Kind::kWordDelete, Kind::kWordDrop, Kind::kTruncate}) check(kind, false);
    for (const Kind kind : {Kind::kCharRepeat, Kind::kWordRepeat, Kind::kSentenceRepeat, Kind::kLoop})
      check(kind, true);
  }
  CHECK(n_pairs > 3000);
}

void bad_input_is_named() {
  const std::vector<unsigned char> bad{'a', 0xFF};
  const Text good = U"氷";
  const std::vector<TextView> texts{view(good), view(bad)};
  const std::vector<Language> languages(2, Language::kByText);
  const std::vector<Degree> degrees{Degree{}};
  PerturbationOptions options;
  options.degrees = degrees;
  options.languages = languages;
  try {
    perturb(texts, options, 1);
    CHECK(false);
  } catch (const InvalidAnswer& error) {
    CHECK(error.row == 1 && error.byte == 1);
  }
  CHECK_THROWS(InvalidAnswer, Donors(texts, {}));
  CHECK_THROWS(TextTooLong, outcome(Kind::kLoop, U"氷", of_k(std::uint64_t{1} << 60)));
  CHECK_THROWS(TextTooLong, outcome(Kind::kLoop, U"氷", of_k(~std::uint64_t{0})));
  // Each of 40,000 sentences would be followed by one of 80,000 code points.
  Text many, donor(80'000, U'火');
  for (int i = 0; i < 40'000; ++i) many += U"氷。";
  CHECK_THROWS(TextTooLong, outcome(Kind::kSentenceInsert, many, {.donors = {donor}}));
}

void kinds_have_names() {
  CHECK(perturbation_kind("char_delete") == Kind::kCharDelete);
  CHECK(perturbation_kind("width") == Kind::kWidth);
  CHECK(!perturbation_kind("paraphrase"));
}

}  // namespace

int main() {
  all_sites_are_damaged_by_the_highest_degree();
  parts_of_other_texts_are_put_in();
  damage_that_cannot_be_has_a_reason();
  a_damaged_text_is_another_and_not_blank();
  no_character_is_split();
  neither_batches_nor_threads_nor_other_degrees_matter();
  a_higher_degree_damages_more();
  bad_input_is_named();
  kinds_have_names();
  return report("perturbation_test");
}
