// Batches: threads and order change nothing, scores are the same on every platform, and invalid input is named. Python
// compares every column with the oracle.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "index/checksum.hpp"
#include "makers/check.hpp"
#include "makers/index_bytes.hpp"
#include "makers/rule_nodes.hpp"
#include "makers/rules.hpp"
#include "pfgen/batch_scorer.hpp"
#include "pfgen/error.hpp"
#include "pfgen/normalised_text.hpp"

namespace pfgen::test {

// Three questions that lack some of four sets, and rows of all kinds that answer them.
struct Fixture {
  std::vector<Sets> sets;
  std::vector<std::vector<std::size_t>> set_columns{{0}, {2, 1}, {0, 3, 2}};
  std::vector<std::size_t> n_rules{2, 0, 1};
  std::vector<Text> texts;
  std::vector<std::vector<unsigned char>> utf8_texts;
  std::vector<std::array<std::uint32_t, 2 * kTextForms>> positions;  // of two regexes in each form
  std::vector<Answer> answers;

  explicit Fixture(std::size_t n_rows) : texts(n_rows), utf8_texts(n_rows), positions(n_rows) {
    Random random(7);
    for (const auto& columns : set_columns) sets.push_back(random_sets(random, columns.size(), false));
    for (std::size_t row = 0; row < n_rows; ++row) {
      const auto question = static_cast<std::uint32_t>(random.below(3));
      texts[row] = random_answer(random, sets[question][0], random.pick(kLengths));
      utf8_texts[row] = utf8(texts[row]);
      const auto a = static_cast<std::uint32_t>(random.below(200));
      const auto b = static_cast<std::uint32_t>(random.below(200));
      positions[row] = {a, b, b, a, a, b};
      answers.push_back({row % 2 == 0 ? view(texts[row]) : view(utf8_texts[row]), question, positions[row].data()});
      answers.back().text.is_null = row % 97 == 5;
    }
  }

  BatchScorer scorer(Profile profile, FloatSum float_sum, std::size_t n_threads) const {
    std::vector<ReferenceSets> reference_sets;
    for (const Sets& of_question : sets) reference_sets.push_back(views(of_question));
    const auto indexes = compile(reference_sets, profile, n_threads);
    std::vector<Question> questions;
    for (std::size_t q = 0; q < sets.size(); ++q) {
      std::vector<RuleNode> nodes(n_rules[q], regex_rule());
      for (RuleNode& node : nodes) node.importance = 0.75;
      questions.push_back({indexes[q], std::make_shared<const KeywordRules>(nodes), set_columns[q]});
    }
    return {std::move(questions), float_sum};
  }
};

constexpr double kUntouched = -7.0;

// All columns of a batch, one after the other: four, and four for each metric of the sets.
std::vector<double> columns_of(const BatchScorer& scorer, std::span<const Answer> answers, std::size_t n_threads,
                               bool with_sets = true) {
  const std::size_t n = answers.size();
  std::vector<double> all(12 * n, kUntouched);
  double* begin = all.data();
  scorer.score(answers, n_threads,
               {begin, begin + n, begin + 2 * n, begin + 3 * n, with_sets ? begin + 4 * n : nullptr,
                with_sets ? begin + 8 * n : nullptr});
  return all;
}

TEST(threads_and_order_change_nothing) {
  const Fixture fixture(700);
  const std::size_t n = fixture.answers.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  Random random(8);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<Answer> shuffled;
  for (const std::size_t row : order) shuffled.push_back(fixture.answers[row]);

  const auto expected = columns_of(fixture.scorer(Profile::kLeaderboard, FloatSum::kNaive, 1), fixture.answers, 1);
  std::vector<double> expected_shuffled(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expected_shuffled[i] = expected[i / n * n + order[i % n]];
  for (const std::size_t n_threads : {1U, 2U, 7U}) {
    const BatchScorer scorer = fixture.scorer(Profile::kLeaderboard, FloatSum::kNaive, n_threads);
    CHECK(same_bits(columns_of(scorer, fixture.answers, n_threads), expected));
    CHECK(same_bits(columns_of(scorer, shuffled, n_threads), expected_shuffled));
    const auto without_sets = columns_of(scorer, fixture.answers, n_threads, false);
    CHECK(same_bits(std::span(without_sets).first(4 * n), std::span(expected).first(4 * n)));
    CHECK(std::ranges::count(std::span(without_sets).subspan(4 * n), kUntouched) == static_cast<long>(8 * n));
    CHECK(columns_of(scorer, {}, n_threads).empty());
  }
}

TEST(threads_report_the_lowest_invalid_row) {
  Fixture fixture(700);
  const std::vector<unsigned char> bad{'a', 'b', 0xE3, 0x81}, worse{0xFF};
  for (std::size_t row = 300; row < 700; row += 7) fixture.answers[row].text = view(worse);
  fixture.answers[297].text = view(bad);
  const BatchScorer scorer = fixture.scorer(Profile::kLeaderboard, FloatSum::kNaive, 2);
  for (std::uint32_t question = 0; question < 3; ++question) {
    fixture.answers[297].question = question;
    for (const std::size_t n_threads : {1U, 2U, 7U}) {
      const auto result = invalid_at([&] { columns_of(scorer, fixture.answers, n_threads); });
      CHECK((result == std::pair<std::size_t, std::size_t>{297, 2}));
    }
    CHECK_THROWS(InvalidAnswer, scorer.details(fixture.answers[297]));
  }
}

// The bits of all scores are the same with all compilers, standard libraries and processors. The digest detects a
// single changed bit: the two float sums differ in the last digit of some rows only.
TEST(threads_give_the_same_scores_on_every_platform) {
  const Fixture fixture(300);
  const auto digest = [&](Profile profile, FloatSum float_sum) {
    const auto result = columns_of(fixture.scorer(profile, float_sum, 2), fixture.answers, 2);
    return checksum(std::as_bytes(std::span(result)));
  };
  CHECK(digest(Profile::kLeaderboard, FloatSum::kCompensated) == 0x5D82726700C954FEU);
  CHECK(digest(Profile::kLeaderboard, FloatSum::kNaive) == 0xD87F189CA1F10F23U);
  CHECK(digest(Profile::kPaper, FloatSum::kCompensated) == 0xFE11E7E01D0F590FU);
  CHECK(digest(Profile::kPaper, FloatSum::kNaive) == 0x67843559E6E8455CU);
  CHECK(digest(Profile::kNormalised, FloatSum::kCompensated) == 0x201784534AF954FDU);
  CHECK(digest(Profile::kNormalised, FloatSum::kNaive) == 0x42BD759E0065E4E4U);
}

TEST(scores_can_be_added_up_in_the_other_way) {
  const Fixture fixture(300);
  const std::size_t n = fixture.answers.size();
  std::vector<std::int32_t> questions;
  for (const Answer& answer : fixture.answers) questions.push_back(static_cast<std::int32_t>(answer.question));
  const auto columns = [&](FloatSum float_sum) {
    std::vector<double> all = columns_of(fixture.scorer(Profile::kLeaderboard, float_sum, 1), fixture.answers, 1);
    std::ranges::replace(all, kUntouched, std::numeric_limits<double>::quiet_NaN());
    return all;
  };
  for (const FloatSum float_sum : {FloatSum::kNaive, FloatSum::kCompensated}) {
    const FloatSum other = float_sum == FloatSum::kNaive ? FloatSum::kCompensated : FloatSum::kNaive;
    std::vector<double> result = columns(float_sum);
    CHECK(!same_bits(result, columns(other)));
    double* begin = result.data();
    fixture.scorer(Profile::kLeaderboard, other, 1)
        .add_up(questions, {begin, begin + n, begin + 2 * n, begin + 3 * n, begin + 4 * n, begin + 8 * n});
    CHECK(same_bits(result, columns(other)));
  }
}

TEST(an_index_with_other_sets_than_the_suite_is_refused) {
  Fixture fixture(10);
  fixture.set_columns[1] = {2, 1, 0};  // the index has two
  for (Answer& answer : fixture.answers) answer.question = 1;
  CHECK_THROWS(IndexFormatError,
               columns_of(fixture.scorer(Profile::kLeaderboard, FloatSum::kNaive, 1), fixture.answers, 1));
}

TEST(errors_of_a_thread_reach_the_caller) {
  const Text answer = U"あ";
  const std::vector<ReferenceSets> questions{{{view(answer)}}, {{}}, {{view(answer)}}};
  for (const std::size_t n_threads : {1U, 2U, 7U}) {
    CHECK_THROWS(CompileError, compile(questions, Profile::kLeaderboard, n_threads));
  }
}

}  // namespace pfgen::test
