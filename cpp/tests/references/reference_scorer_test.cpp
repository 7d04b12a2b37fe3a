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

TEST(all_threads_end_when_long_rows_are_interrupted) {
  const std::u32string text(40'000, U'a');
  const std::vector<TextView> answers(64, view(text)), references(1000, view(text));
  const std::vector<std::uint32_t> lists(64);
  const std::vector<std::uint64_t> begins{0, 1000};
  ReferenceOptions options;
  options.metrics.push_back({ReferenceMetric::kRougeL, 0});
  const ReferenceScorer scorer(options);
  std::vector<double> columns(3 * 64);
  std::vector<std::int32_t> counts;
  const auto interrupt = [] { throw std::runtime_error("interrupted"); };
  for (const std::size_t n_threads : {1U, 2U}) {
    CHECK_THROWS(std::runtime_error,
                 scorer.score({answers, lists, references, begins, {}, {}}, n_threads, columns, counts, interrupt));
  }
  CHECK(std::ranges::all_of(columns, [](double value) { return std::isnan(value); }));  // no row ended
}

}  // namespace pfgen::test
