#include "pfgen/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "counting/numbering.hpp"
#include "index/alphabet.hpp"
#include "pfgen/error.hpp"
#include "system/parallel.hpp"
#include "system/random.hpp"

namespace pfgen {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kLast = std::uint32_t{1} << 31;
constexpr double kLargestWeight = 1099511627776.0;  // 2^40: sums stay below 2^63, even over all of Unicode
constexpr std::size_t kBlock = 128;                 // answers that a thread takes at a time

// ---- Numbers at random ----

std::uint64_t first_of(std::uint64_t state) { return Generator(state).draw(); }

// ---- ContinuationCounts ----

// The answers one after another, each with its end mark.
struct Corpus {
  std::vector<char32_t> code_points;
  std::vector<std::size_t> ends;
  std::size_t longest = 0;
};

Corpus read(std::span<const TextView> answers) {
  Corpus corpus;
  std::vector<char32_t> code_points;
  for (const TextView& answer : answers) {
    if (decode(answer, kNoError, code_points) != kNoError) throw CompileError("an answer holds invalid UTF-8");
    corpus.longest = std::max(corpus.longest, code_points.size());
    corpus.code_points.insert(corpus.code_points.end(), code_points.begin(), code_points.end());
    corpus.code_points.push_back(kEndMark);
    corpus.ends.push_back(corpus.code_points.size());
    if (corpus.code_points.size() > kLast) throw CompileError("more than 2^31 code points of answers");
  }
  return corpus;
}

// Calls `work(begin, end)` for each answer.
template <class Work>
void for_each_answer(const Corpus& corpus, const Work& work) {
  std::size_t begin = 0;
  for (const std::size_t end : corpus.ends) {
    work(begin, end);
    begin = end;
  }
}

// Numbers the context of each position: the `n` code points before it. A context of begin marks only has number 0. A
// context of 2k code points is a pair of contexts of k code points, so few passes reach any order.
std::vector<std::uint32_t> number_contexts(const Corpus& corpus, std::size_t n) {
  std::vector<std::uint32_t> contexts(corpus.code_points.size());
  if (n == 0) return contexts;
  Numbering of_one;
  for_each_answer(corpus, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      contexts[i] = of_one.number_of(i == begin ? kBeginMark : corpus.code_points[i - 1], 0);
    }
  });
  std::vector<std::uint32_t> longer(contexts.size());
  for (std::size_t k = 1; k < n;) {
    const std::size_t before = std::min(k, n - k);  // in the last pass the two may overlap
    Numbering pairs;
    for_each_answer(corpus, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        longer[i] = pairs.number_of(contexts[i], contexts[i - std::min(before, i - begin)]);
      }
    });
    contexts.swap(longer);
    k += before;
  }
  return contexts;
}

struct Counted {
  std::uint32_t context;
  std::uint32_t next;  // context
  char32_t code_point;
  std::uint32_t count;
};

// All continuations, grouped by context and in their order. `begin` is the first continuation of each context.
struct ContinuationCounts {
  std::vector<Counted> continuations;
  std::vector<std::size_t> begin;
};

ContinuationCounts count(const Corpus& corpus, std::size_t n) {
  const std::vector<std::uint32_t> contexts = number_contexts(corpus, n);
  const std::size_t n_contexts = 1 + *std::ranges::max_element(contexts);
  std::vector<Counted> continuations;
  Numbering numbering;
  ContinuationCounts counts{{}, std::vector<std::size_t>(n_contexts + 1)};
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    const std::uint32_t number = numbering.number_of(contexts[i], corpus.code_points[i]);
    if (number < continuations.size()) {
      ++continuations[number].count;
      continue;
    }
    const bool ends = corpus.code_points[i] == kEndMark;
    continuations.push_back({contexts[i], ends ? 0 : contexts[i + 1], corpus.code_points[i], 1});
    ++counts.begin[contexts[i] + 1];
  }
  std::partial_sum(counts.begin.begin(), counts.begin.end(), counts.begin.begin());
  counts.continuations.resize(continuations.size());
  std::vector<std::size_t> place(counts.begin.begin(), counts.begin.end() - 1);
  for (const Counted& continuation : continuations) counts.continuations[place[continuation.context]++] = continuation;
  for (std::size_t c = 0; c < n_contexts; ++c) {
    const auto of_context =
        std::span(counts.continuations).subspan(counts.begin[c], counts.begin[c + 1] - counts.begin[c]);
    std::ranges::sort(of_context, [](const Counted& a, const Counted& b) {
      return a.count != b.count ? a.count > b.count : a.code_point < b.code_point;
    });
  }
  return counts;
}

// ---- The continuations of a context that remain ----

// Multiplications and square roots only, which IEEE 754 rounds the same everywhere. Neither ever puts a smaller `x`
// above a larger one, so weights fall with counts.
double power(double x, double y) {
  double result = 1.0;
  double factor = x;
  const double whole = std::floor(y);
  for (auto digits = static_cast<std::uint64_t>(whole); digits != 0; digits >>= 1) {
    if ((digits & 1) != 0) result *= factor;
    factor *= factor;
  }
  factor = x;
  for (double rest = y - whole; rest > 0.0;) {
    factor = std::sqrt(factor);
    rest *= 2.0;
    if (rest < 1.0) continue;
    rest -= 1.0;
    result *= factor;
  }
  return result;
}

// Weights of the continuations of a context after the cuts of the options.
class Cutter {
 public:
  explicit Cutter(const SamplerOptions& options) : options_(options) {
    if (options.order < 1) throw CompileError("order: expected 1 or more");
    if (options.temperature != 0.0 && !(options.temperature >= 0.001 && options.temperature <= 1000.0)) {
      throw CompileError("temperature: expected 0, or 0.001 to 1000");
    }
    if (!(options.top_p > 0.0 && options.top_p <= 1.0)) throw CompileError("top_p: expected more than 0 and at most 1");
    if (options.temperature == 0.0) options_.top_k = 1;
  }

  // Holds until the next call.
  std::span<const std::uint64_t> weights(std::span<const Counted> of_context) {
    if (options_.top_k != 0 && of_context.size() > options_.top_k) of_context = of_context.first(options_.top_k);
    weights_.clear();
    for (const Counted& continuation : of_context) {
      const std::uint64_t weight = weight_of(continuation.count, of_context.front().count);
      if (weight == 0) break;
      weights_.push_back(weight);
      last_count_ = continuation.count;
    }
    if (options_.top_p < 1.0) cut_top_p();
    return weights_;
  }

 private:
  std::uint64_t weight_of(std::uint32_t count, std::uint32_t largest) const {
    if (options_.temperature == 0.0 || options_.temperature == 1.0) return count;
    if (!weights_.empty() && count == last_count_) return weights_.back();
    const double x = static_cast<double>(count) / static_cast<double>(largest);
    return static_cast<std::uint64_t>(power(x, 1.0 / options_.temperature) * kLargestWeight);
  }

  void cut_top_p() {
    const std::uint64_t total = std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0});
    const double enough = options_.top_p * static_cast<double>(total);
    std::uint64_t sum = 0;
    for (std::size_t n = 0; n < weights_.size(); ++n) {
      sum += weights_[n];
      if (static_cast<double>(sum) >= enough) return weights_.resize(n + 1);
    }
  }

  SamplerOptions options_;
  std::vector<std::uint64_t> weights_;
  std::uint32_t last_count_ = 0;  // that the last of weights_ belongs to
};

}  // namespace

NgramSampler::NgramSampler(std::span<const TextView> answers, const SamplerOptions& options, std::uint64_t stream)
    : stream_(stream) {
  Cutter cutter(options);
  if (answers.empty()) throw CompileError("no answers to sample from");
  const Corpus corpus = read(answers);
  // A longer context than the longest answer tells no more places apart.
  const ContinuationCounts counts = count(corpus, std::min(options.order - 1, corpus.longest));
  std::vector<std::uint32_t> place_of(counts.begin.size() - 1, kNone);
  std::vector<std::uint32_t> waiting{0};
  while (!waiting.empty()) {
    const std::uint32_t context = waiting.back();
    waiting.pop_back();
    if (place_of[context] != kNone) continue;
    ++n_contexts_;
    place_of[context] = static_cast<std::uint32_t>(continuations_.size());
    const auto all = std::span(counts.continuations)
                         .subspan(counts.begin[context], counts.begin[context + 1] - counts.begin[context]);
    const std::span<const std::uint64_t> weights = cutter.weights(all);
    std::uint64_t left = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    for (std::size_t i = 0; i < weights.size(); ++i) {
      continuations_.push_back({left, all[i].next, all[i].code_point});
      left -= weights[i];
    }
    continuations_.back().code_point |= kLast;
    for (std::size_t i = weights.size(); i-- > 0;) {
      if (all[i].code_point != kEndMark) waiting.push_back(all[i].next);
    }
  }
  for (Continuation& continuation : continuations_) {
    const bool ends = (continuation.code_point & ~kLast) == kEndMark;
    continuation.next = ends ? 0 : place_of[continuation.next];
  }
  continuations_.shrink_to_fit();
}

void NgramSampler::sample(std::uint64_t state, std::size_t max_code_points, std::vector<char32_t>& out) const {
  Generator generator(state);
  const Continuation* at = continuations_.data();
  for (std::size_t n = 0; n < max_code_points; ++n) {
    if ((at->code_point & kLast) == 0) {
      const std::uint64_t r = multiply_high(generator.draw(), at->weight);
      while ((at->code_point & kLast) == 0 && r < at[1].weight) ++at;
    }
    const char32_t code_point = at->code_point & ~kLast;
    if (code_point == kEndMark) return;
    out.push_back(code_point);
    at = continuations_.data() + at->next;
  }
}

std::vector<SampledTexts> NgramSampler::sample(std::span<const std::uint64_t> seeds, std::size_t max_code_points,
                                               std::size_t n_threads, const std::function<void()>& on_pause) const {
  std::vector<SampledTexts> blocks((seeds.size() + kBlock - 1) / kBlock);
  const std::uint64_t of_stream = first_of(stream_);
  run_parallel(blocks.size(), n_threads, on_pause, [&] {
    return [&](std::size_t i) {
      const auto of_block = seeds.subspan(i * kBlock, std::min(kBlock, seeds.size() - i * kBlock));
      for (const std::uint64_t seed : of_block) {
        sample(first_of(of_stream ^ seed), max_code_points, blocks[i].code_points);
        blocks[i].ends.push_back(blocks[i].code_points.size());
      }
    };
  });
  return blocks;
}

}  // namespace pfgen
