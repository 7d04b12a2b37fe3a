// Selection for building reference sets, and the n-gram sampler: threads. Python compares the results with plain
// counting and with docs/ngram_engine.md, and checks refused input; sanitizers check the runs of this file.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "pfgen/sampler.hpp"
#include "pfgen/selection.hpp"

namespace pfgen::test {

using Texts = std::vector<Text>;

Texts random_texts(Random& random) {
  const TextRef alphabet = random.one_in(2) ? TextRef(U"ab") : TextRef(U"abcdefgh日本語\x10FFFF");
  Texts texts;
  for (std::size_t n = random.between(1, 40); n > 0; --n) {
    if (texts.empty() || !random.one_in(5)) {
      texts.push_back(random.text(alphabet, random.below(30)));
    } else {
      texts.push_back(texts[random.below(texts.size())]);
    }
  }
  return texts;
}

// With classes as bits and as lists.
TEST(threads_climb_to_the_sums_of_a_comparison) {
  Random random(3);
  for (int round = 0; round < 10; ++round) {
    Texts texts = random_texts(random);
    if (round == 0) texts.resize(400, U"cdefghij");
    for (std::size_t i = 40; i < texts.size(); ++i) texts[i] = random.text(i % 3 == 0 ? U"ab" : U"cdefghij", 12);
    const std::size_t size = random.between(1, std::min<std::size_t>(texts.size(), 4));
    const std::vector<Climb> climbs = select(views_of(texts), {.size = size, .max_order = 6, .n_restarts = 2}, 2);
    CHECK(climbs.size() == 2);
    for (const Climb& climb : climbs) {
      CHECK(climb.is_finished && climb.rows.size() == size);
      const DistributionSums counted = compare(views_of(texts), climb.rows, 6).sums, kept = climb.curve.back().sums;
      CHECK(kept.n_ngrams == counted.n_ngrams && kept.all_squares == counted.all_squares);
      CHECK(kept.chosen_squares == counted.chosen_squares && kept.products == counted.products);
    }
  }
}

TEST(what_on_progress_throws_ends_all_threads) {
  Random random(6);
  Texts texts;
  for (int i = 0; i < 300; ++i) texts.push_back(random.text(U"abcdefgh", 40));
  const SelectionOptions options{.size = 100, .n_restarts = 1'000'000};
  CHECK_THROWS(std::logic_error,
               select(views_of(texts), options, 2, [](const CurvePoint&) { throw std::logic_error("stop"); }));
}

std::vector<std::uint64_t> first_seeds(std::size_t n) {
  std::vector<std::uint64_t> seeds(n);
  std::iota(seeds.begin(), seeds.end(), 0U);
  return seeds;
}

std::vector<Text> sampled(const NgramSampler& sampler, std::size_t n, std::size_t n_threads = 1,
                          std::size_t max_code_points = 300) {
  std::vector<Text> answers;
  for (const SampledTexts& texts : sampler.sample(first_seeds(n), max_code_points, n_threads)) {
    std::size_t begin = 0;
    for (const std::size_t end : texts.ends) {
      answers.emplace_back(texts.code_points.begin() + static_cast<std::ptrdiff_t>(begin),
                           texts.code_points.begin() + static_cast<std::ptrdiff_t>(end));
      begin = end;
    }
  }
  return answers;
}

NgramSampler sampler_of(const Texts& texts, const SamplerOptions& options, std::uint64_t stream = 1) {
  return {views_of(texts), options, stream};
}

TEST(threads_and_batches_change_nothing) {
  Random random(3);
  std::vector<Text> texts;
  for (int i = 0; i < 50; ++i) texts.push_back(random.text(U"abcde", 40));
  const NgramSampler sampler = sampler_of(texts, {.order = 3});
  const std::vector<Text> all = sampled(sampler, 1000);
  CHECK(all.size() == 1000);
  CHECK(sampled(sampler, 1000, 4) == all);
  CHECK(sampled(sampler, 7) == std::vector<Text>(all.begin(), all.begin() + 7));
  CHECK(sampled(sampler, 0).empty());
  CHECK(sampled(sampler_of({U"日本", U"", U"ab"}, {.order = 40}), 100, 2, 1).size() == 100);
  CHECK(sampled(sampler_of(texts, {.order = 3}, 2), 1000) != all);
}

TEST(what_on_pause_throws_ends_all_threads) {
  const NgramSampler sampler = sampler_of({U"abc", U"abd"}, {.order = 2});
  const std::vector<std::uint64_t> seeds = first_seeds(100'000);
  CHECK_THROWS(std::logic_error, sampler.sample(seeds, 300, 2, [] { throw std::logic_error("stop"); }));
}

}  // namespace pfgen::test
