// Variants of the constants: the usual ones score as a batch does, and constants out of their range are refused.
#include <array>
#include <memory>
#include <vector>

#include "makers/check.hpp"
#include "makers/index_bytes.hpp"
#include "makers/rule_nodes.hpp"
#include "makers/rules.hpp"
#include "pfgen/error.hpp"
#include "pfgen/variant_scorer.hpp"

namespace pfgen::test {

// One of several sets of constants is the usual one: with few sets and with more than an index holds, compact and wide.
TEST(the_usual_constants_score_as_a_batch) {
  Random random(11);
  const std::vector<Constants> constants{{2, 5, 0.5, 20, 30}, {1, 10, 0.005, 100, 150}, {10, 10, 1.0, 1, 1000}};
  for (std::size_t round = 0; round < 4; ++round) {
    Sets sets = random_sets(random, round % 2 == 0 ? 3 : 5, false);
    if (round >= 2) sets[0].push_back(code_points_from(0x10000, CompactStates::kMaxSymbol + 1));
    const std::vector<ReferenceSets> of_questions{views(sets)};
    const auto indexes = compile(of_questions, Profile::kLeaderboard, 2);
    RuleNode node = regex_rule();
    node.importance = 0.75;
    Question question = plain_question(indexes[0]);
    question.rules = std::make_shared<const KeywordRules>(std::vector{node});

    std::vector<Text> texts(300);
    std::vector<std::array<std::uint32_t, 3>> positions(texts.size());  // for each look-ahead
    std::vector<Answer> answers;
    for (std::size_t row = 0; row < texts.size(); ++row) {
      texts[row] = random_answer(random, sets[0], random.pick(kLengths));
      positions[row].fill(static_cast<std::uint32_t>(random.below(200)));
      answers.push_back({view(texts[row]), 0, positions[row].data()});
    }
    const std::size_t n = texts.size();
    std::vector<double> expected(4 * n);
    double* begin = expected.data();
    BatchScorer({question}, FloatSum::kCompensated)
        .score(answers, 2, {begin, begin + n, begin + 2 * n, begin + 3 * n, nullptr, nullptr});
    const VariantScorer variants({question}, of_questions, constants, 2);
    CHECK((variants.look_aheads() == std::vector<std::size_t>{80, 200, 1050}));
    for (std::size_t s = 0; s < sets.size(); ++s) CHECK(variants.baseline(0, 1, s) == indexes[0]->baselines()[s]);
    std::vector<double> found(constants.size() * VariantScorer::kParts * n);
    variants.score(answers, 2, found.data());
    CHECK(same_bits(std::span(found).subspan(VariantScorer::kParts * n, expected.size()), expected));
  }
}

TEST(constants_out_of_their_range_are_refused) {
  const Sets sets{{U"あいう"}};
  const std::vector<ReferenceSets> of_questions{views(sets)};
  const auto indexes = compile(of_questions, Profile::kLeaderboard, 1);
  const Question question = plain_question(indexes[0]);
  for (const Constants& wrong :
       {Constants{0, 10, 0.1, 1, 2}, Constants{3, 2, 0.1, 1, 2}, Constants{1, 11, 0.1, 1, 2},
        Constants{1, 1, 0.0, 1, 2}, Constants{1, 1, 0.1, 2, 2}, Constants{1, 1, 0.1, 1, 1001}}) {
    CHECK_THROWS(CompileError, VariantScorer({question}, of_questions, std::vector{wrong}, 1));
  }
  CHECK_THROWS(CompileError, VariantScorer({question}, of_questions, {}, 1));
}

}  // namespace pfgen::test
