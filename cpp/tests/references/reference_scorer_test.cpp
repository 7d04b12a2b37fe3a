// The scorer with several threads; tests in Python compare the metrics with the libraries.
#include "pfgen/reference_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "makers/check.hpp"
#include "makers/random.hpp"

namespace pfgen::test {

TextView view(const std::u32string& text) { return {text.data(), text.size(), Encoding::kUcs4}; }

TEST(threads_change_nothing_and_missing_rows_have_no_scores) {
  Random random(12);
  std::vector<std::u32string> texts;
  for (int i = 0; i < 300; ++i) texts.push_back(random.text(U"ab c.\n氷", random.below(i % 9 == 0 ? 300 : 90)));
  std::vector<TextView> answers, references;
  std::vector<std::uint32_t> lists;
  std::vector<std::uint64_t> begins{0};
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t r = 0; r <= i % 3; ++r) references.push_back(view(texts[random.below(texts.size())]));
    begins.push_back(references.size());
  }
  for (std::size_t row = 0; row < 500; ++row) {
    answers.push_back(view(texts[random.below(texts.size())]));
    answers.back().is_null = row % 50 == 7;
    lists.push_back(row % 50 == 9 ? ReferenceBatch::kNoList : static_cast<std::uint32_t>(random.below(100)));
  }
  ReferenceOptions options;
  for (int metric = 0; metric <= static_cast<int>(ReferenceMetric::kDistinct); ++metric) {
    options.metrics.push_back({static_cast<ReferenceMetric>(metric), 2});
  }
  const ReferenceScorer scorer(options);
  const auto scores = [&](std::size_t n_threads) {
    std::vector<double> columns(scorer.n_columns() * answers.size());
    std::vector<std::int32_t> counts(scorer.n_counts() * answers.size());
    scorer.score({answers, lists, references, begins, {}, {}}, n_threads, columns, counts);
    return columns;
  };
  const std::vector<double> of_one = scores(1);
  CHECK(same_bits(of_one, scores(4)));
  for (std::size_t row = 0; row < answers.size(); ++row) {
    CHECK((of_one[row] == of_one[row]) == (row % 50 != 7 && row % 50 != 9));
  }
}

TEST(pairs_have_the_scores_of_each_pair_with_any_number_of_threads) {
  Random random(13);
  std::vector<std::u32string> texts;
  for (int i = 0; i < 150; ++i) texts.push_back(random.text(U"ab c.\n氷", random.below(i % 9 == 0 ? 300 : 40)));
  std::vector<TextView> views;
  for (const std::u32string& text : texts) views.push_back(view(text));
  ReferenceOptions options;
  for (int metric = 0; metric < static_cast<int>(ReferenceMetric::kRepeated); ++metric) {
    options.metrics.push_back({static_cast<ReferenceMetric>(metric), 2});
  }
  const ReferenceScorer scorer(options);
  const auto same_as_each_pair = [&](std::span<const TextView> answers, std::span<const TextView> references) {
    std::vector<TextView> answers_of_pairs, references_of_pairs;
    std::vector<std::uint32_t> lists;
    std::vector<std::uint64_t> begins{0};
    for (const TextView& answer : answers) {
      for (const TextView& reference : references) {
        answers_of_pairs.push_back(answer);
        references_of_pairs.push_back(reference);
        lists.push_back(static_cast<std::uint32_t>(lists.size()));
        begins.push_back(begins.size());
      }
    }
    std::vector<double> expected(scorer.n_columns() * lists.size()), columns(expected.size());
    std::vector<std::int32_t> counts(scorer.n_counts() * lists.size());
    scorer.score({answers_of_pairs, lists, references_of_pairs, begins, {}, {}}, 2, expected, counts);
    for (const std::size_t n_threads : {1U, 3U}) {
      scorer.score_pairs({answers, {}, references, {}, {}, {}}, n_threads, columns);
      CHECK(same_bits(columns, expected));
    }
  };
  const std::span<const TextView> all(views);
  same_as_each_pair(all.first(80), all.last(70));  // chrF takes 64 references at a time
  same_as_each_pair(all.first(66), all.first(66));
}

TEST(all_threads_end_when_long_rows_are_interrupted) {
  const std::u32string text(40'000, U'a');
  const std::vector<TextView> answers(64, view(text)), references(1000, view(text));
  const std::vector<std::uint32_t> lists(64);
  const std::vector<std::uint64_t> begins{0, 1000};
  ReferenceOptions options;
  options.metrics.push_back({ReferenceMetric::kRougeL, 0});
  const ReferenceScorer scorer(options);
  std::vector<double> columns(3 * 64), matrices(192'000);
  std::vector<std::int32_t> counts;
  const auto interrupt = [] { throw std::runtime_error("interrupted"); };
  for (const std::size_t n_threads : {1U, 2U}) {
    CHECK_THROWS(std::runtime_error,
                 scorer.score({answers, lists, references, begins, {}, {}}, n_threads, columns, counts, interrupt));
    CHECK_THROWS(std::runtime_error,
                 scorer.score_pairs({answers, {}, references, {}, {}, {}}, n_threads, matrices, interrupt));
  }
  CHECK(std::ranges::all_of(columns, [](double value) { return std::isnan(value); }));  // no row ended
}

}  // namespace pfgen::test
