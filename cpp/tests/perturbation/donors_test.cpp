// What texts may take from others: against lists that are made anew for each text.
#include <algorithm>
#include <set>

#include "makers/check.hpp"
#include "makers/perturbed.hpp"
#include "makers/random.hpp"
#include "perturbation/distinct_texts.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

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

void a_text_takes_what_neither_its_group_nor_itself_has() {
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
    std::vector<std::uint32_t> own;
    for (std::size_t n = random.below(4); n > 0; --n) {
      const Text text = random.text(U"ab氷", random.below(4));
      const std::uint32_t place = texts.find(text);
      const bool is_there = std::any_of(given.begin(), given.end(), [&](const Given& one) { return one.text == text; });
      CHECK(is_there == (place != DistinctTexts::kAbsent));
      if (is_there) own.push_back(place);
      expected.erase(text);
    }
    Candidates candidates;
    candidates.reset(texts, group, own);
    CHECK(candidates.size() == expected.size());
    std::size_t n = 0;
    for (const Text& text : expected) CHECK(candidates[n++] == text);
  }
}

// The texts of some languages, with groups, in a batch and alone with a pool of the others.
void a_batch_takes_what_each_text_takes_alone() {
  Random random(82);
  const std::vector<Text> pieces{
      U"富士山は高い。",     U"琵琶湖と氷。", U"ガラスの窓だ。", U"We like Mars. ", U"NASA flew. ",
      U"To Oslo and Rome. ", U"\n",           U" 氷。"};
  for (int i = 0; i < 60; ++i) {
    std::vector<Text> texts;
    Setting batch{.degrees = {{300}, {1000}, {2, true}}, .seed = static_cast<std::uint64_t>(i)};
    batch.language = random.one_in(2) ? Language::kJapanese : Language::kEnglish;
    for (std::size_t n = random.between(1, 12); n > 0; --n) {
      Text& text = texts.emplace_back();
      for (std::size_t k = random.between(0, 4); k > 0; --k) text += random.pick(pieces);
      batch.groups.push_back(static_cast<std::uint32_t>(random.below(4)));
    }
    batch.donors = texts;
    batch.n_threads = random.between(1, 3);
    for (const PerturbationKind kind :
         {PerturbationKind::kTermSwap, PerturbationKind::kSentenceInsert, PerturbationKind::kAnswerSwap}) {
      const auto together = outcomes(kind, texts, batch);
      for (std::size_t row = 0; row < texts.size(); ++row) {
        Setting alone = batch;
        alone.donors.clear();
        for (std::size_t other = 0; other < texts.size(); ++other) {
          if (batch.groups[other] != batch.groups[row]) alone.donors.push_back(texts[other]);
        }
        alone.groups.clear();
        const auto expected = outcomes(kind, {texts[row]}, alone);
        for (std::size_t degree = 0; degree < batch.degrees.size(); ++degree) {
          CHECK(together[degree][row] == expected[degree][0]);
        }
      }
    }
  }
}

}  // namespace

int main() {
  a_text_takes_what_neither_its_group_nor_itself_has();
  a_batch_takes_what_each_text_takes_alone();
  return report("donors_test");
}
