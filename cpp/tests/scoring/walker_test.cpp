// Fluency and truthfulness of single sets, from indexes of all shapes: random cases against the rules as written
// (makers/rules.hpp); Python compares usual sets with the oracle. Seeds are fixed; doubles are compared with ==.
#include <algorithm>
#include <span>
#include <vector>

#include "index/section_builder.hpp"
#include "makers/check.hpp"
#include "makers/scored_answers.hpp"
#include "pfgen/question_index.hpp"

namespace pfgen::test {

void check_scores(const Sets& sets, bool is_wide, std::span<const std::vector<Text>> batches,
                  const Lengths& lengths = {}) {
  for (const Profile profile : {Profile::kLeaderboard, Profile::kPaper}) {
    const References references(views(sets), profile, lengths);
    const Rules rules(sets, profile, lengths);
    CHECK(references.groups()[0].index().is_wide() == is_wide);
    CHECK(baselines_follow(references, rules));
    for (const std::vector<Text>& batch : batches) CHECK(scores_follow(references, rules, batch));
  }
}

// The texts are so short that each n-gram counts in the score of profile paper.
std::vector<Text> probes(Random& random, const Sets& sets, TextRef alphabet) {
  std::vector<Text> all, texts;
  for (const auto& set : sets) all.insert(all.end(), set.begin(), set.end());
  for (int i = 0; i < 12; ++i) {
    texts.push_back(random.splice(all, alphabet, random.between(1, 90)));
    if (i % 4 == 0) texts.back()[random.below(texts.back().size())] = 0x10FFFF;
  }
  texts.push_back(random.pick(all).substr(0, 40));
  texts.back().insert(texts.back().begin(), *std::ranges::max_element(alphabet));
  return texts;
}

void check_probes(Random& random, const Sets& sets, TextRef alphabet, bool is_wide = false) {
  const std::vector<Text> texts = probes(random, sets, alphabet);
  check_scores(sets, is_wide, {{texts, {texts[0], texts[1]}}});
}

Text spaced(std::size_t n_symbols) {
  Text alphabet;
  for (std::size_t i = 0; i < n_symbols; ++i) alphabet += static_cast<char32_t>(0x20 + 0x61 * i);
  return alphabet;
}

// References with all kinds of repetitions: pieces of other answers, whole answers, one repeated character.
Sets repeating_sets(Random& random, TextRef alphabet, std::size_t n_sets, std::size_t longest) {
  Sets sets(n_sets);
  for (auto& set : sets) {
    set.push_back(random.text(alphabet, random.between(1, std::min<std::size_t>(longest, 100))));
    set.push_back(Text(longest, random.pick(alphabet)));
    while (set.size() < 12) set.push_back(random.splice(set, alphabet, random.between(0, longest)));
  }
  return sets;
}

// Repetitions are found in one way in answers of up to 256 symbols, and in another way in longer answers.
TEST(indexes_of_long_answers_follow_the_rules) {
  Random random(4);
  for (const std::size_t n_symbols : {1U, 2U, 4U, 60U, 5000U}) {
    const Text alphabet = spaced(n_symbols);
    for (const std::size_t longest : {100U, 254U, 255U, 256U, 257U, 600U}) {
      check_probes(random, repeating_sets(random, alphabet, 1 + longest % 4, longest), alphabet);
    }
  }
}

// Sums of frequencies beyond 65,535 need the wide form.
TEST(indexes_of_large_counts_follow_the_rules) {
  Random random(5);
  const Text alphabet = U"あいうえおかきくけこ";
  Sets sets = repeating_sets(random, alphabet, 2, 30);
  check_probes(random, sets, alphabet);
  const Text frequent = random.text(alphabet, 12);
  for (int i = 0; i < 7000; ++i) sets[1].push_back(i % 50 == 0 ? random.text(alphabet, 4) : frequent);
  check_probes(random, sets, alphabet, true);
}

TEST(indexes_of_large_alphabets_follow_the_rules) {
  Random random(3);
  for (const std::size_t n_symbols : {4094U, 4095U, 4096U, 6000U}) {
    const Text alphabet = spaced(n_symbols);
    Sets sets(3);
    for (std::size_t i = 0; i < n_symbols; i += 30) sets[random.below(3)].push_back(alphabet.substr(i, 30));
    for (auto& set : sets) {
      for (int i = 0; i < 40; ++i) set.push_back(random.splice(set, alphabet, random.between(0, 30)));
    }
    check_probes(random, sets, alphabet);
  }
}

// Past 255 symbols, repetitions in an answer are found in another way.
TEST(answers_of_all_lengths_follow_the_rules) {
  Random random(8);
  for (const Lengths& lengths : {Lengths{1, 2}, {4, 6}, {150, 252}, {250, 255}, {254, 256}, {300, 420}}) {
    for (const std::size_t n_symbols : {1U, 2U, 4U, 60U}) {
      const Text alphabet = spaced(n_symbols);
      Sets sets = repeating_sets(random, alphabet, 1 + n_symbols % 5, lengths.look_ahead() + 3);
      for (auto& set : sets) set.push_back(alphabet.substr(0, 1));  // profile paper scores only short ones
      std::vector<Text> texts;
      for (const std::size_t border : {lengths.target, lengths.limit, lengths.look_ahead()}) {
        for (const std::size_t n : {border - 1, border, border + 1, border + 2}) {
          texts.push_back(random.splice(sets[0], alphabet, n));
        }
      }
      check_scores(sets, true, {{texts, {texts[0], texts[5]}}}, lengths);
    }
  }
}

// Earlier indexes of a builder do not change later ones.
TEST(a_builder_that_goes_on_builds_the_same) {
  Random random(6);
  SectionBuilder builder;
  for (int round = 0; round < 40; ++round) {
    const Text alphabet = spaced(random.pick(std::vector<std::size_t>{1, 2, 60, 5000}));
    const Profile profile = random.one_in(2) ? Profile::kPaper : Profile::kLeaderboard;
    const std::size_t longest = random.pick(std::vector<std::size_t>{20, 100, 400});
    const Sets sets = repeating_sets(random, alphabet, random.between(1, 6), longest);
    CHECK(std::ranges::equal(References(views(sets), profile, {}, builder).section().bytes,
                             References(views(sets), profile).section().bytes));
  }
  // This also holds after a set with too many answers for the compact form.
  const auto is_wide = [&](const Sets& sets) {
    return References(views(sets), Profile::kLeaderboard, {}, builder).groups()[0].index().is_wide();
  };
  CHECK(is_wide({{U"あ"}, {U"い"}, std::vector<Text>(3001, U"あい")}));
  CHECK(!is_wide({{U"あ"}}));
}

}  // namespace pfgen::test
