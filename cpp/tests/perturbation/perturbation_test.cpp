// The kinds of damage: some literals, and what holds for all of them; the hash and the generator of all random choices;
// and what texts may take from others. Whether kinds follow the rules is tested against the oracle in Python.
#include "pfgen/perturbation.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "index/checksum.hpp"
#include "makers/check.hpp"
#include "makers/perturbed.hpp"
#include "makers/random.hpp"
#include "perturbation/distinct_texts.hpp"
#include "perturbation/order.hpp"
#include "perturbation/sha256.hpp"
#include "pfgen/error.hpp"

namespace pfgen::test {

Setting of_k(std::uint64_t k) { return {.degrees = {{k, true}}}; }

std::vector<Text> random_texts(Random& random, std::size_t n) {
  std::vector<Text> texts(n);
  for (Text& text : texts) text = random.text(U"富士ガラスーのはです。\n Mars isn't 12「A」", random.below(40));
  return texts;
}

TEST(all_sites_are_damaged_by_the_highest_degree) {
  const Setting japanese{.language = Language::kJapanese, .donors = {U"琵琶湖だ。", U"水。"}};
  CHECK(outcome("char_repeat", U"氷、a!") == Outcome(U"氷氷、aa!"));
  CHECK(outcome("negate", U"氷です。\n水はある。", japanese) == Outcome(U"氷ではありません。\n水はない。"));
  CHECK(outcome("sentence_insert", U"水。氷。", japanese) == Outcome(U"水。琵琶湖だ。氷。琵琶湖だ。"));
  CHECK(outcome("wrong_ending", U"水。", {.alternative = U"氷。"}) == Outcome(U"氷。"));
  CHECK(outcome("answer_swap", U"水。", {.donors = {U"水。"}}) == Outcome(Impossible::kNoCandidate));
}

// All kinds on texts of either language; Python compares such damage with the oracle.
TEST(damage_is_the_same_on_every_platform) {
  Random random(92);
  const std::vector<Text> texts = random_texts(random, 200);
  Text all;
  for (const Language language : {Language::kJapanese, Language::kEnglish}) {
    const Setting setting{.degrees = {{100}, {300}, {1000}, {2, true}},
                          .language = language,
                          .donors = random_texts(random, 20),
                          .alternative = U"氷。"};
    for (const std::string_view kind : perturbation_kinds()) {
      for (const auto& of_degree : outcomes(kind, texts, setting)) {
        for (const Outcome& found : of_degree) {
          const Text* damaged = std::get_if<Text>(&found);
          all += damaged ? *damaged : Text(1, 0x200000 + static_cast<char32_t>(std::get<Impossible>(found)));
          all += U'\0';
        }
      }
    }
  }
  CHECK(checksum(std::as_bytes(std::span(all))) == 0x6D1695043C3970AFU);
}

TEST(neither_batches_nor_threads_matter) {
  Random random(93);
  const std::vector<Text> texts = random_texts(random, 300);
  Setting setting{.degrees = {{100}, {2, true}}, .donors = {U"琵琶湖だ。", U"We like Mars."}, .n_threads = 4};
  for (const std::string_view kind : perturbation_kinds()) {
    const auto together = outcomes(kind, texts, setting);
    Setting alone = setting;
    alone.n_threads = 1;
    CHECK(outcomes(kind, texts, alone) == together);
    CHECK(outcomes(kind, {texts[70]}, alone)[1][0] == together[1][70]);
  }
}

TEST(bad_input_is_named) {
  const std::vector<TextView> texts{view(U"氷"), kInvalid};
  const std::vector<Language> languages(2, Language::kByText);
  const std::vector<Degree> degrees{Degree{}};
  PerturbationOptions options;
  options.degrees = degrees;
  options.languages = languages;
  CHECK((invalid_at([&] { perturb(texts, options, 1); }) == std::pair<std::size_t, std::size_t>{1, 1}));
  CHECK_THROWS(InvalidAnswer, Donors(texts, {}));
  CHECK_THROWS(TextTooLong, outcome("loop", U"氷", of_k(std::uint64_t{1} << 60)));
  CHECK_THROWS(TextTooLong, outcome("loop", U"氷", of_k(~std::uint64_t{0})));
  // Each of 40,000 sentences would be followed by one of 80,000 code points.
  Text many, donor(80'000, U'火');
  for (int i = 0; i < 40'000; ++i) many += U"氷。";
  CHECK_THROWS(TextTooLong, outcome("sentence_insert", many, {.donors = {donor}}));
}

TEST(unknown_kinds_are_refused) {
  CHECK(perturbation_kinds().size() == 24);
  CHECK_THROWS(std::invalid_argument, outcome("paraphrase", U"氷"));
}

struct Given {
  Text text;
  std::uint32_t group;
};

std::vector<Given> drawn(Random& random) {
  std::vector<Given> all;
  const std::size_t n = random.between(0, 60), n_groups = random.between(1, 5);
  for (std::size_t i = 0; i < n; ++i) {
    const auto group = random.one_in(8) ? DistinctTexts::kShared : static_cast<std::uint32_t>(random.below(n_groups));
    all.push_back({random.text(U"ab氷", random.below(4)), group});
  }
  return all;
}

TEST(a_text_takes_what_neither_its_group_nor_itself_has) {
  Random random(81);
  for (int i = 0; i < 400; ++i) {
    const std::vector<Given> given = drawn(random);
    DistinctTexts texts;
    for (const auto& [text, group] : given) texts.add(text, group);
    texts.sort();
    const auto group = static_cast<std::uint32_t>(random.below(6));
    std::set<Text> expected;
    for (const Given& one : given) {
      if (one.group == DistinctTexts::kShared || one.group != group) expected.insert(one.text);
    }
    std::vector<Text> own(random.below(4));
    for (Text& text : own) {
      text = random.text(U"ab氷", random.below(4));
      const bool is_there = std::any_of(given.begin(), given.end(), [&](const Given& one) { return one.text == text; });
      CHECK(is_there == (texts.find(text) != DistinctTexts::kAbsent));
      expected.erase(text);
    }
    Candidates candidates;
    candidates.reset(texts, group, std::vector<TextRef>(own.begin(), own.end()));
    CHECK(candidates.size() == expected.size());
    std::size_t n = 0;
    for (const Text& text : expected) CHECK(candidates[n++] == text);
  }
}

std::uint64_t hashed(const std::string& message, std::size_t n_at_a_time) {
  Sha256 hash;
  const std::span bytes(reinterpret_cast<const unsigned char*>(message.data()), message.size());
  for (std::size_t at = 0; at < bytes.size(); at += n_at_a_time) {
    hash.add(bytes.subspan(at, std::min(n_at_a_time, bytes.size() - at)));
  }
  return hash.head();
}

TEST(sha256_is_that_of_the_standard) {
  for (const std::size_t n : {1U, 3U, 63U, 64U, 65U, 1000U}) {
    CHECK(hashed("", n) == 0xE3B0C44298FC1C14);
    CHECK(hashed("abc", n) == 0xBA7816BF8F01CFEA);
    CHECK(hashed("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", n) == 0x248D6A61D20638B8);
    CHECK(hashed(std::string(1'000'000, 'a'), n) == 0xCDC76E5C9914FB92);
  }
}

TEST(the_length_of_a_message_has_its_own_block_where_it_must) {
  std::set<std::uint64_t> hashes;
  for (std::size_t length = 0; length < 200; ++length) {
    const std::uint64_t hash = hashed(std::string(length, '\0'), 7);
    CHECK(hash == hashed(std::string(length, '\0'), 200));
    hashes.insert(hash);
  }
  CHECK(hashes.size() == 200);
}

TEST(numbers_ahead_are_those_that_are_drawn) {
  Generator generator(0);
  CHECK(generator.ahead(0) == 0xE220A8397B1DCDAF);  // the first of SplitMix64
  for (std::uint64_t i = 0; i < 5; ++i) {
    const Generator before = generator;
    CHECK(before.ahead(0) == generator.draw());
    CHECK(before.ahead(3) == generator.ahead(2));
  }
}

TEST(streams_depend_on_kind_and_text) {
  const Text text = U"氷は水に浮く。";
  CHECK(stream_of("loop", text) == stream_of("loop", text));
  CHECK(stream_of("loop", text) != stream_of("negate", text));
  CHECK(stream_of("loop", text) != stream_of("loop", text + U'\0'));
  CHECK(stream_of("loop", U"\xD800") != stream_of("loop", U"\xDFFF"));
  CHECK(state_of(1, 0) != state_of(1, 1));
  // A text that is hashed in several pieces, of code points of each length.
  const std::string prefix = std::string("discernment") + '\0' + "loop" + '\0';
  for (const char32_t c : {U'a', U'é', U'氷', U'𠮷'}) {
    const Text many(1000, c);
    const auto bytes = utf8(many);
    CHECK(stream_of("loop", many) == hashed(prefix + std::string(bytes.begin(), bytes.end()), 64));
  }
}

}  // namespace pfgen::test
