#include <algorithm>
#include <array>

#include "pfgen/reference_metrics.hpp"
#include "references/comparison.hpp"
#include "references/ngram_matcher.hpp"

namespace pfgen {
namespace {

// The matcher of characters or words, and the length of the answer.
struct Symbols {
  std::size_t tokens;  // their place
  NgramMatcher matcher;
  std::size_t n_of_answer = 0;
};

class Chrf : public Comparison {
 public:
  Chrf(const ReferenceOptions& options, std::span<const Wanted> wanted)
      : options_(options.chrf),
        reduce_(options.reduce),
        symbols_{{wanted.front().tokens, NgramMatcher(options_.char_order)}} {
    std::size_t n_counts = 0;
    for (const Wanted& request : wanted) {
      kinds_.push_back({request, 0, 0, std::vector<std::int64_t>(options.n_counts(request.metric))});
      n_counts = std::max(n_counts, kinds_.back().counts.size());
    }
    counts_.resize(n_counts);
    if (n_counts > 3 * options_.char_order) symbols_.push_back({kChrfWords, NgramMatcher(kChrfWordOrder)});
    matches_.resize(std::max(options_.char_order, kChrfWordOrder));
  }

  void set_answer(const PreparedText& answer) override {
    for (Symbols& symbols : symbols_) {
      const std::vector<TokenId>& tokens = answer.tokens[symbols.tokens];
      symbols.matcher.set_answer(tokens);
      symbols.n_of_answer = tokens.size();
    }
    forget_references();
  }

  void forget_references() override {
    n_references_ = 0;
    for (Kind& kind : kinds_) {
      kind.best = -1;
      kind.sum = 0;
    }
  }

  void add_reference(const PreparedText& reference) override {
    ++n_references_;
    std::int64_t* counts = counts_.data();
    for (Symbols& symbols : symbols_) counts = count(symbols, reference.tokens[symbols.tokens], counts);
    for (Kind& kind : kinds_) {
      const std::span of_kind(counts_.data(), kind.counts.size());
      const double score = chrf(options_, of_kind);
      kind.sum += score;
      if (score <= kind.best) continue;
      kind.best = score;
      std::ranges::copy(of_kind, kind.counts.begin());
    }
  }

  void finish(const ResultRow& row) override {
    for (const Kind& kind : kinds_) {
      row.set(kind.wanted.column, reduce_ == Reduce::kMean ? kind.sum / n_references_ : kind.best);
      row.set_counts(kind.wanted, kind.counts);
    }
  }

 private:
  // chrF or chrF++.
  struct Kind {
    Wanted wanted;
    double best;
    double sum;                        // over the references
    std::vector<std::int64_t> counts;  // with the best one
  };

  // Returns the place after the counts.
  std::int64_t* count(Symbols& symbols, const std::vector<TokenId>& reference, std::int64_t* counts) {
    symbols.matcher.match(reference, matches_.data());
    for (std::size_t n = 1; n <= symbols.matcher.order(); ++n) {
      const std::size_t n_of_reference = n_ngrams(reference.size(), n);
      *counts++ = n_of_reference == 0 ? 0 : static_cast<std::int64_t>(n_ngrams(symbols.n_of_answer, n));
      *counts++ = static_cast<std::int64_t>(n_of_reference);
      *counts++ = matches_[n - 1];
    }
    return counts;
  }

  ChrfOptions options_;
  Reduce reduce_;
  double n_references_ = 0;
  std::vector<Symbols> symbols_;
  std::vector<Kind> kinds_;
  std::vector<std::int64_t> matches_;  // by order
  std::vector<std::int64_t> counts_;   // of an answer and a reference
};

}  // namespace

double chrf(const ChrfOptions& options, std::span<const std::int64_t> counts) {
  constexpr double kSmall = 1e-16;
  const double factor = options.beta * options.beta;
  const std::size_t order = counts.size() / 3;
  std::size_t n_used = 0;
  double sum = 0;
  double precisions = 0;
  double recalls = 0;
  for (std::size_t i = 0; i < order; ++i) {
    const auto n_answer = static_cast<double>(counts[3 * i]);
    const auto n_reference = static_cast<double>(counts[3 * i + 1]);
    const auto n_matches = static_cast<double>(counts[3 * i + 2]);
    const double precision = n_answer > 0 ? n_matches / n_answer : kSmall;
    const double recall = n_reference > 0 ? n_matches / n_reference : kSmall;
    const double denominator = factor * precision + recall;
    if (options.is_smoothed) sum += denominator > 0 ? (1 + factor) * precision * recall / denominator : kSmall;
    if (n_answer > 0 && n_reference > 0) {
      precisions += precision;
      recalls += recall;
      ++n_used;
    }
  }
  if (options.is_smoothed) return 100 * sum / static_cast<double>(order);
  if (n_used == 0) return 0.0;
  precisions /= static_cast<double>(n_used);
  recalls /= static_cast<double>(n_used);
  if (precisions + recalls == 0) return 0.0;
  double score = (1 + factor) * precisions * recalls;
  score /= factor * precisions + recalls;
  return 100 * score;
}

std::unique_ptr<Comparison> compare_chrf(const ReferenceOptions& options, std::span<const Wanted> wanted) {
  return std::make_unique<Chrf>(options, wanted);
}

}  // namespace pfgen
