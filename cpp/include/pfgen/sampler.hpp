// Answers drawn from the n-grams of the reference answers of one question, by the rules of docs/ngram_engine.md.
// Immutable and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pfgen/text.hpp"

namespace pfgen {

struct SamplerOptions {
  std::size_t order = 5;
  double temperature = 1.0;
  double top_p = 1.0;
  std::size_t top_k = 0;  // 0: no limit
};

// Some answers, one after another.
struct SampledTexts {
  std::vector<char32_t> code_points;
  std::vector<std::size_t> ends;  // of each answer
};

class NgramSampler {
 public:
  // `stream` tells questions with equal seeds apart. Throws CompileError without answers, on invalid UTF-8, with more
  // than 2^31 code points, and on options that are out of range.
  NgramSampler(std::span<const TextView> answers, const SamplerOptions& options, std::uint64_t stream);

  // Returns an answer for each seed, in their order, in several pieces, with at most `max_code_points` each. The
  // calling thread calls `on_pause` regularly; an exception from it ends the work of all threads.
  std::vector<SampledTexts> sample(std::span<const std::uint64_t> seeds, std::size_t max_code_points,
                                   std::size_t n_threads, const std::function<void()>& on_pause = {}) const;

  // Contexts that an answer can reach.
  std::size_t n_contexts() const noexcept { return n_contexts_; }

 private:
  // A continuation of a context. The continuations of one context are adjacent, the most frequent first, followed by
  // their likely successors. So a step reads one cache line, which is often loaded already.
  struct Continuation {
    std::uint64_t weight;      // of this continuation and all later ones of its context
    std::uint32_t next;        // place of the first continuation of the context it leads to
    std::uint32_t code_point;  // or the end mark; with kLast in the last of a context
  };

  void sample(std::uint64_t state, std::size_t max_code_points, std::vector<char32_t>& out) const;

  std::uint64_t stream_;
  std::size_t n_contexts_ = 0;
  std::vector<Continuation> continuations_;  // the first continues the empty answer
};

}  // namespace pfgen
