// All kinds of damage: the same on every platform and with any threads, and refused input; and the hash behind all
// random choices. Python compares all kinds with the oracle.
#include "pfgen/perturbation.hpp"

#include <algorithm>
#include <string>

#include "index/checksum.hpp"
#include "makers/check.hpp"
#include "makers/perturbed.hpp"
#include "makers/random.hpp"
#include "perturbation/sha256.hpp"
#include "pfgen/error.hpp"

namespace pfgen::test {

Setting of_k(std::uint64_t k) { return {.degrees = {{k, true}}}; }

std::vector<Text> random_texts(Random& random, std::size_t n) {
  std::vector<Text> texts(n);
  for (Text& text : texts) text = random.text(U"富士ガラスーのはです。\n Mars isn't 12「A」", random.below(40));
  return texts;
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

TEST(batches_and_threads_change_nothing) {
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

}  // namespace pfgen::test
