// The matchers against a plain count of n-grams, and the scorer with several threads; tests in Python compare the
// metrics with the libraries.
#include "pfgen/reference_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "references/ngram_matcher.hpp"

namespace pfgen::test {

using Symbols = std::vector<std::uint32_t>;
using Counts = std::map<Symbols, std::int64_t>;

Counts ngrams(const Symbols& symbols, std::size_t n) {
  Counts counts;
  for (std::size_t i = 0; i + n <= symbols.size(); ++i) {
    ++counts[Symbols(symbols.begin() + static_cast<std::ptrdiff_t>(i),
                     symbols.begin() + static_cast<std::ptrdiff_t>(i + n))];
  }
  return counts;
}

std::int64_t shared(const Counts& a, const Counts& b) {
  std::int64_t sum = 0;
  for (const auto& [ngram, n] : a) sum += b.contains(ngram) ? std::min(n, b.at(ngram)) : 0;
  return sum;
}

TEST(matchers_count_what_an_answer_shares_with_references) {
  Random random(11);
  const auto symbols = [&](std::size_t most) {
    Symbols drawn(random.below(most + 1));
    for (std::uint32_t& symbol : drawn) symbol = static_cast<std::uint32_t>(random.below(3));
    return drawn;
  };
  for (const std::size_t order : {1U, 4U, 6U, 9U}) {
    NgramMatcher matcher(order);
    for (int i = 0; i < 100; ++i) {
      const Symbols answer = symbols(i % 2 == 0 ? 70 : 200);
      matcher.set_answer(answer);
      std::vector<std::int64_t> sums(order);
      std::vector<Counts> highest(order);
      for (int r = 0; r < 3; ++r) {
        const Symbols reference = symbols(100);
        std::vector<std::int64_t> matches(order);
        matcher.match(reference, matches.data());
        matcher.add_matches(reference, sums.data());
        for (std::size_t n = 1; n <= order; ++n) {
          const Counts counts = ngrams(reference, n);
          CHECK(matches[n - 1] == shared(ngrams(answer, n), counts));
          for (const auto& [ngram, count] : counts) {
            std::int64_t& most = highest[n - 1][ngram];
            most = std::max(most, count);
          }
        }
      }
      for (std::size_t n = 1; n <= order; ++n) CHECK(sums[n - 1] == shared(ngrams(answer, n), highest[n - 1]));
    }
  }
}

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

TEST(a_batch_may_have_no_lists) {
  const std::u32string text = U"a";
  const std::vector<TextView> answers{view(text), view(text)};
  const std::vector<std::uint32_t> lists(2, ReferenceBatch::kNoList);
  const std::vector<std::uint64_t> begins{0};
  ReferenceOptions options;
  options.metrics.push_back({ReferenceMetric::kBleu, 0});
  const ReferenceScorer scorer(options);
  std::vector<double> columns(2);
  std::vector<std::int32_t> counts(2 * scorer.n_counts(), 7);
  scorer.score({answers, lists, {}, begins, {}, {}}, 1, columns, counts);
  CHECK(std::isnan(columns[0]) && std::isnan(columns[1]) && std::ranges::count(counts, 0) == 20);
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

TEST(invalid_texts_are_named) {
  const std::string invalid = "a\xFF";
  const std::u32string good = U"a";
  const std::vector<TextView> answers{view(good), view(good)};
  const std::vector<TextView> references{view(good), {invalid.data(), invalid.size(), Encoding::kUtf8}};
  const std::vector<std::uint32_t> lists{0, 0};
  const std::vector<std::uint64_t> begins{0, 2};
  ReferenceOptions options;
  options.metrics.push_back({ReferenceMetric::kChrf, 0});
  const ReferenceScorer scorer(options);
  std::vector<double> columns(2);
  std::vector<std::int32_t> counts(2 * scorer.n_counts());
  try {
    scorer.score({answers, lists, references, begins, {}, {}}, 1, columns, counts);
    CHECK(false);
  } catch (const InvalidReferenceText& error) {
    CHECK(error.is_reference && error.text == 1 && error.byte == 1);
  }
}

}  // namespace pfgen::test
