#include <algorithm>
#include <cmath>
#include <limits>

#include "pfgen/reference_metrics.hpp"
#include "references/comparison.hpp"
#include "references/ngram_matcher.hpp"

namespace pfgen {
namespace {

constexpr double kLogOfZero = -9999999999.0;

// sacrebleu's sentence BLEU; its counts are always those with all references.
class Bleu : public Comparison {
 public:
  Bleu(const ReferenceOptions& options, std::span<const Wanted> wanted)
      : options_(options),
        wanted_(wanted.begin(), wanted.end()),
        place_(wanted.front().tokens),
        matcher_(options.bleu.max_order),
        counts_(options.bleu.n_counts()),
        counts_of_reference_(counts_.size()) {}

  void set_answer(const PreparedText& answer) override {
    const std::vector<TokenId>& tokens = answer.tokens[place_];
    const std::size_t order = matcher_.order();
    matcher_.set_answer(tokens);
    std::ranges::fill(counts_, 0);
    sum_ = 0;
    n_references_ = 0;
    counts_[0] = static_cast<std::int64_t>(tokens.size());
    counts_[1] = kNoLength;
    for (std::size_t n = 1; n <= order; ++n) {
      counts_[1 + order + n] = static_cast<std::int64_t>(n_ngrams(tokens.size(), n));
    }
  }

  void add_reference(const PreparedText& reference) override {
    const std::vector<TokenId>& tokens = reference.tokens[place_];
    matcher_.add_matches(tokens, &counts_[2]);
    const auto length = static_cast<std::int64_t>(tokens.size());
    std::int64_t& nearest = counts_[1];
    const std::int64_t difference = std::abs(counts_[0] - length);
    const std::int64_t best = std::abs(counts_[0] - nearest);
    if (nearest == kNoLength || difference < best || (difference == best && length < nearest)) nearest = length;
    if (options_.reduce == Reduce::kMean) add_score(tokens);
  }

  void finish(const ResultRow& row) override {
    const bool is_mean = options_.reduce == Reduce::kMean;
    const double score = is_mean ? sum_ / n_references_ : bleu(options_.bleu, options_.is_effective, counts_);
    for (const Wanted& wanted : wanted_) {
      row.set_counts(wanted, counts_);
      row.set(wanted.column, score);
    }
  }

 private:
  static constexpr std::int64_t kNoLength = -1;

  // Adds the score with this reference alone.
  void add_score(const std::vector<TokenId>& reference) {
    std::ranges::copy(counts_, counts_of_reference_.begin());
    counts_of_reference_[1] = static_cast<std::int64_t>(reference.size());
    matcher_.match(reference, &counts_of_reference_[2]);
    sum_ += bleu(options_.bleu, options_.is_effective, counts_of_reference_);
    ++n_references_;
  }

  const ReferenceOptions& options_;
  std::vector<Wanted> wanted_;
  std::size_t place_;
  NgramMatcher matcher_;
  std::vector<std::int64_t> counts_;  // of the answer and all references so far
  std::vector<std::int64_t> counts_of_reference_;
  double sum_ = 0;  // of the scores with each reference alone
  double n_references_ = 0;
};

}  // namespace

double bleu(const BleuOptions& options, bool is_effective, std::span<const std::int64_t> counts) {
  const std::size_t order = options.max_order;
  const auto length = static_cast<double>(counts[0]);
  const auto reference_length = static_cast<double>(counts[1]);
  const auto matches = counts.subspan(2, order);
  if (std::ranges::all_of(matches, [](std::int64_t n) { return n == 0; })) return 0.0;
  const double brevity = length < reference_length ? std::exp(1 - reference_length / length) : 1.0;
  double halving = 1;
  double sum = 0;
  std::size_t n_used = is_effective ? 0 : order;
  for (std::size_t i = 0; i < order; ++i) {
    const double added = options.smoothing == Smoothing::kAddK && i > 0 ? options.smoothing_value : 0.0;
    const double correct = static_cast<double>(matches[i]) + added;
    const double total = static_cast<double>(counts[2 + order + i]) + added;
    if (total == 0) {  // precisions are 0 from here on
      if (!is_effective) sum += kLogOfZero * static_cast<double>(order - i);
      break;
    }
    if (is_effective) n_used = i + 1;
    double precision = 0;
    if (correct != 0) {
      precision = 100.0 * correct / total;
    } else if (options.smoothing == Smoothing::kExp) {
      halving *= 2;
      precision = 100.0 / (halving * total);
    } else if (options.smoothing == Smoothing::kFloor) {
      precision = 100.0 * options.smoothing_value / total;
    }
    sum += precision == 0 ? kLogOfZero : std::log(precision);
  }
  return brevity * std::exp(sum / static_cast<double>(n_used));
}

std::unique_ptr<Comparison> compare_bleu(const ReferenceOptions& options, std::span<const Wanted> wanted) {
  return std::make_unique<Bleu>(options, wanted);
}

}  // namespace pfgen
