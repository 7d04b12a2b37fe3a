// The n-gram sampler: cuts, threads and refusals. Python compares what it draws with docs/ngram_engine.md.
#include "pfgen/sampler.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "pfgen/error.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

std::vector<std::uint64_t> first_seeds(std::size_t n) {
  std::vector<std::uint64_t> seeds(n);
  for (std::size_t i = 0; i < n; ++i) seeds[i] = i;
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

NgramSampler sampler_of(const std::vector<Text>& texts, const SamplerOptions& options, std::uint64_t stream = 1) {
  return {views_of(texts), options, stream};
}

void cuts_leave_the_most_frequent() {
  const std::vector<Text> texts{U"a", U"a", U"a", U"a", U"b", U"b", U"b", U"c", U"c", U"d"};
  const auto found = [&](const SamplerOptions& options) {
    Text first;
    for (const Text& answer : sampled(sampler_of(texts, options), 400)) {
      if (first.find(answer) == Text::npos) first += answer;
    }
    std::ranges::sort(first);
    return first;
  };
  CHECK(found({.order = 2}) == U"abcd");
  CHECK(found({.order = 2, .top_k = 3}) == U"abc");
  CHECK(found({.order = 2, .top_p = 0.7}) == U"ab");
  CHECK(found({.order = 2, .top_p = 0.71}) == U"abc");
  CHECK(found({.order = 2, .top_p = 0.57, .top_k = 2}) == U"a");
  CHECK(found({.order = 2, .top_p = 0.58, .top_k = 2}) == U"ab");
  CHECK(found({.order = 2, .temperature = 0.0}) == U"a");
  CHECK(found({.order = 2, .temperature = 0.001}) == U"a");  // the others' weights are 0
  CHECK(found({.order = 2, .temperature = 1000.0}) == U"abcd");
}

void threads_and_batches_change_nothing() {
  Random random(3);
  std::vector<Text> texts;
  for (int i = 0; i < 50; ++i) texts.push_back(random.text(U"abcde", 40));
  const NgramSampler sampler = sampler_of(texts, {.order = 3});
  const std::vector<Text> one = sampled(sampler, 1000);
  CHECK(one.size() == 1000);
  CHECK(sampled(sampler, 1000, 4) == one);
  CHECK(sampled(sampler, 7) == std::vector<Text>(one.begin(), one.begin() + 7));
  CHECK(sampled(sampler, 0).empty());
  CHECK(sampled(sampler_of({U"日本", U"", U"ab"}, {.order = 40}), 100, 2, 1).size() == 100);
  CHECK(sampled(sampler_of(texts, {.order = 3}, 2), 1000) != one);
}

void what_on_pause_throws_ends_the_work() {
  const NgramSampler sampler = sampler_of({U"abc", U"abd"}, {.order = 2});
  const std::vector<std::uint64_t> seeds = first_seeds(100'000);
  CHECK_THROWS(std::logic_error, sampler.sample(seeds, 300, 2, [] { throw std::logic_error("stop"); }));
}

void what_cannot_be_is_refused() {
  CHECK_THROWS(CompileError, sampler_of({}, {}));
  const std::vector<unsigned char> invalid{'a', 0xFF};
  const TextView no_text = view(invalid);
  CHECK_THROWS(CompileError, NgramSampler(std::span(&no_text, 1), {}, 0));
  for (const double temperature : {-1.0, 0.0005, 1001.0, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS(CompileError, sampler_of({U"a"}, {.temperature = temperature}));
  }
  for (const double top_p : {0.0, -0.5, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS(CompileError, sampler_of({U"a"}, {.top_p = top_p}));
  }
  CHECK_THROWS(CompileError, sampler_of({U"a"}, {.order = 0}));
}

}  // namespace

int main() {
  cuts_leave_the_most_frequent();
  threads_and_batches_change_nothing();
  what_on_pause_throws_ends_the_work();
  what_cannot_be_is_refused();
  return report("sampler_test");
}
