// The kinds of damage: hand-written literals, and what holds for all of them. Whether they follow the rules in each
// code point is tested against the oracle in Python.
#include "pfgen/perturbation.hpp"

#include <stdexcept>

#include "makers/check.hpp"
#include "makers/perturbed.hpp"
#include "makers/random.hpp"
#include "pfgen/error.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

const Setting kEnglish{.language = Language::kEnglish};
const Setting kJapanese{.language = Language::kJapanese};

Setting of_k(std::uint64_t k) { return {.degrees = {{k, true}}}; }

bool is_text(const Outcome& found, const Text& expected) { return found == Outcome(expected); }
bool is_reason(const Outcome& found, Impossible expected) { return found == Outcome(expected); }

void all_sites_are_damaged_by_the_highest_degree() {
  CHECK(is_text(outcome("char_repeat", U"氷、a!"), U"氷氷、aa!"));
  CHECK(is_text(outcome("char_swap", U"氷水"), U"水氷"));
  CHECK(is_text(outcome("word_repeat", U"氷は、水", kJapanese), U"氷は氷は、水水"));
  CHECK(is_text(outcome("word_repeat", U"Ice, isn't", kEnglish), U"Ice Ice, isn't isn't"));
  CHECK(is_text(outcome("word_swap", U"氷は、水。", kJapanese), U"水、氷は。"));
  CHECK(is_text(outcome("negate", U"氷です。\n水はある。", kJapanese), U"氷ではありません。\n水はない。"));
  CHECK(is_text(outcome("negate", U"It is. He can't. I Won’t. DO NOT.", kEnglish),
                U"It is not. He can. I Will. DO NOT."));
  CHECK(is_text(outcome("sentence_reorder", U" One. Two!\n", kEnglish), U" Two! One.\n"));
  CHECK(is_text(outcome("sentence_repeat", U"氷。 水。", kJapanese), U"氷。氷。 水。 水。"));
  CHECK(is_text(outcome("sentence_repeat", U"Ice. \n", kEnglish), U"Ice. Ice. \n"));
  CHECK(is_text(outcome("loop", U"氷", of_k(3)), U"氷氷氷氷"));
  CHECK(is_text(outcome("truncate", U"氷水。", of_k(2)), U"氷"));
  CHECK(is_text(outcome("identity", U"氷"), U"氷"));
  CHECK(is_text(outcome("newline", U"氷"), U"氷\n"));
  CHECK(is_text(outcome("punctuation", U"氷、水。", kJapanese), U"氷，水．"));
  CHECK(is_text(outcome("punctuation", U"\"It's\" ('no')", kEnglish), U"“It’s” (‘no’)"));
  CHECK(is_text(outcome("width", U"a9。", kJapanese), U"ａ９。"));
}

void parts_of_other_texts_are_put_in() {
  const Setting japanese{.language = Language::kJapanese, .donors = {U"琵琶湖だ。", U"水。"}};
  CHECK(is_text(
      outcome("term_swap", U"富士山と富士山、富士。", {.language = Language::kJapanese, .donors = {U"琵琶湖だ。"}}),
      U"琵琶湖と琵琶湖、琵琶湖。"));
  CHECK(is_text(outcome("sentence_insert", U"水。氷。", japanese), U"水。琵琶湖だ。氷。琵琶湖だ。"));
  CHECK(is_text(outcome("answer_swap", U"水。", japanese), U"琵琶湖だ。"));
  CHECK(is_text(outcome("wrong_ending", U"水。", {.alternative = U"氷。"}), U"氷。"));
  CHECK(is_reason(outcome("term_swap", U"富士山。", {.donors = {U"富士山。"}}), Impossible::kNoCandidate));
  CHECK(is_reason(outcome("sentence_insert", U"水。", {.donors = {U" 水。", U""}}), Impossible::kNoCandidate));
  CHECK(is_reason(outcome("answer_swap", U"水。", {.donors = {U"水。"}}), Impossible::kNoCandidate));
  CHECK(is_reason(outcome("wrong_ending", U"水。"), Impossible::kNoCandidate));
}

void damage_that_cannot_be_has_a_reason() {
  for (const std::string_view kind : perturbation_kinds()) {
    const bool takes_another = kind == "answer_swap" || kind == "wrong_ending";
    const bool is_blank = kind == "identity" || kind == "newline";
    CHECK(is_reason(outcome(kind, U""), takes_another ? Impossible::kNoCandidate
                                        : is_blank    ? Impossible::kNothingLeft
                                                      : Impossible::kNoSite));
  }
  CHECK(is_reason(outcome("char_delete", U"氷。"), Impossible::kTooFewSites));
  CHECK(is_reason(outcome("char_delete", U"氷水", of_k(2)), Impossible::kTooFewSites));
  CHECK(is_reason(outcome("char_typo", U"氷水", of_k(3)), Impossible::kTooFewSites));
  CHECK(is_reason(outcome("char_swap", U"氷水火", of_k(2)), Impossible::kTooFewSites));
  CHECK(is_reason(outcome("word_swap", U"ice Ice ice", of_k(2)), Impossible::kTooFewSites));
  CHECK(is_reason(outcome("sentence_delete", U"氷。"), Impossible::kTooFewSites));
  CHECK(is_reason(outcome("sentence_reorder", U"氷。水。", of_k(3)), Impossible::kTooFewSites));
  CHECK(is_reason(outcome("sentence_reorder", U"氷。氷。"), Impossible::kUnchanged));
  CHECK(is_reason(outcome("width", U"a9", kEnglish), Impossible::kNoSite));
  CHECK(is_reason(outcome("identity", U" \x301\n"), Impossible::kNothingLeft));
  CHECK(is_reason(outcome("truncate", U" 氷", of_k(1)), Impossible::kNothingLeft));
}

void neither_batches_nor_threads_matter() {
  Random random(93);
  std::vector<Text> texts;
  for (int i = 0; i < 300; ++i) texts.push_back(random.text(U"富士ガラスのはです。\n Mars isn't 12", random.below(40)));
  Setting setting{.degrees = {{100}, {2, true}}, .donors = {U"琵琶湖だ。", U"We like Mars."}, .n_threads = 4};
  for (const std::string_view kind : perturbation_kinds()) {
    const auto together = outcomes(kind, texts, setting);
    Setting alone = setting;
    alone.n_threads = 1;
    CHECK(outcomes(kind, texts, alone) == together);
    CHECK(outcomes(kind, {texts[70]}, alone)[1][0] == together[1][70]);
  }
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
  CHECK_THROWS(TextTooLong, outcome("loop", U"氷", of_k(std::uint64_t{1} << 60)));
  CHECK_THROWS(TextTooLong, outcome("loop", U"氷", of_k(~std::uint64_t{0})));
  // Each of 40,000 sentences would be followed by one of 80,000 code points.
  Text many, donor(80'000, U'火');
  for (int i = 0; i < 40'000; ++i) many += U"氷。";
  CHECK_THROWS(TextTooLong, outcome("sentence_insert", many, {.donors = {donor}}));
}

void unknown_kinds_are_refused() {
  CHECK(perturbation_kinds().size() == 24);
  CHECK_THROWS(std::invalid_argument, outcome("paraphrase", U"氷"));
}

}  // namespace

int main() {
  all_sites_are_damaged_by_the_highest_degree();
  parts_of_other_texts_are_put_in();
  damage_that_cannot_be_has_a_reason();
  neither_batches_nor_threads_matter();
  bad_input_is_named();
  unknown_kinds_are_refused();
  return report("perturbation_test");
}
