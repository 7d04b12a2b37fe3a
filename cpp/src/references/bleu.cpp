#include <algorithm>
#include <cmath>
#include <limits>

#include "pfgen/reference_metrics.hpp"
#include "references/comparison.hpp"
#include "references/ngram_matcher.hpp"

namespace pfgen {
namespace {

constexpr double kLogOfZero = -9999999999.0;

// sacrebleu's sentence BLEU, that of the nmt script, and the latter with ROUGE-L. The counts are always those with all
// references.
class Bleu : public Comparison {
 public:
  Bleu(const ReferenceOptions& options, std::span<const Wanted> wanted, Steps& steps)
      : options_(options),
        wanted_(wanted.begin(), wanted.end()),
        place_(wanted.front().tokens),
        matcher_(options.bleu.max_order),
        counts_(options.bleu.n_counts()),
        counts_of_reference_(counts_.size()),
        sums_(wanted.size()),
        has_rouge_(
            std::ranges::any_of(wanted, [](const Wanted& w) { return w.metric == ReferenceMetric::kBleuRouge; })),
        rouge_place_(place_of_rouge(options)),
        rouge_(steps) {}

  void set_answer(const PreparedText& answer) override {
    const std::vector<TokenId>& tokens = answer.tokens[place_];
    const std::size_t order = matcher_.order();
    matcher_.set_answer(tokens);
    answer_ = &answer;
    forget_references();
    counts_[0] = static_cast<std::int64_t>(tokens.size());
    for (std::size_t n = 1; n <= order; ++n) {
      counts_[1 + order + n] = static_cast<std::int64_t>(n_ngrams(tokens.size(), n));
    }
  }

  void forget_references() override {
    matcher_.forget_references();
    std::fill_n(&counts_[2], matcher_.order(), 0);
    std::ranges::fill(sums_, 0);
    rouge_f_ = 0;
    shortest_ = std::numeric_limits<std::int64_t>::max();
    n_references_ = 0;
    counts_[1] = kNoLength;
  }

  void add_reference(const PreparedText& reference) override {
    const std::vector<TokenId>& tokens = reference.tokens[place_];
    matcher_.add_matches(tokens, &counts_[2]);
    const auto length = static_cast<std::int64_t>(tokens.size());
    std::int64_t& nearest = counts_[1];
    const std::int64_t difference = std::abs(counts_[0] - length);
    const std::int64_t best = std::abs(counts_[0] - nearest);
    if (nearest == kNoLength || difference < best || (difference == best && length < nearest)) nearest = length;
    shortest_ = std::min(shortest_, length);
    double f = 0;
    if (has_rouge_) f = rouge_.lcs(reference.tokens[rouge_place_], answer_->tokens[rouge_place_]).f;
    rouge_f_ = std::max(rouge_f_, f);
    if (options_.reduce == Reduce::kMean) add_scores(tokens, f);
  }

  void finish(const ResultRow& row) override {
    const bool is_mean = options_.reduce == Reduce::kMean;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const ReferenceMetric metric = wanted_[i].metric;
      if (metric == ReferenceMetric::kBleu) row.set_counts(wanted_[i], counts_);
      row.set(wanted_[i].column, is_mean ? sums_[i] / n_references_ : score(metric, counts_, shortest_, rouge_f_));
    }
  }

 private:
  static constexpr std::int64_t kNoLength = -1;

  double score(ReferenceMetric metric, std::span<const std::int64_t> counts, std::int64_t shortest,
               double rouge_f) const {
    if (metric == ReferenceMetric::kBleu) return bleu(options_.bleu, options_.is_effective, counts);
    const double score = nmt_bleu(options_.bleu.max_order, counts, shortest);
    if (metric == ReferenceMetric::kNmtBleu) return score;
    return score + rouge_f > 0 ? 2 * score * rouge_f / (score + rouge_f) : 0.0;
  }

  // Adds the scores with this reference alone.
  void add_scores(const std::vector<TokenId>& reference, double rouge_f) {
    std::ranges::copy(counts_, counts_of_reference_.begin());
    counts_of_reference_[1] = static_cast<std::int64_t>(reference.size());
    matcher_.match(reference, &counts_of_reference_[2]);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      sums_[i] += score(wanted_[i].metric, counts_of_reference_, counts_of_reference_[1], rouge_f);
    }
    ++n_references_;
  }

  const ReferenceOptions& options_;
  std::vector<Wanted> wanted_;
  std::size_t place_;
  NgramMatcher matcher_;
  std::vector<std::int64_t> counts_;  // of the answer and all references so far
  std::vector<std::int64_t> counts_of_reference_;
  std::vector<double> sums_;  // by metric, of the scores with each reference alone
  double n_references_ = 0;
  std::int64_t shortest_ = 0;  // tokens of a reference
  const PreparedText* answer_ = nullptr;
  bool has_rouge_;
  std::size_t rouge_place_;
  Rouge rouge_;
  double rouge_f_ = 0;  // the best F of ROUGE-L
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

// The smoothing adds 1 to the counts of each order: Lin and Och 2004.
double nmt_bleu(std::size_t order, std::span<const std::int64_t> counts, std::int64_t reference_length) {
  if (counts[0] == 0) return 0.0;
  double sum = 0;
  for (std::size_t i = 0; i < order; ++i) {
    const double precision =
        (static_cast<double>(counts[2 + i]) + 1) / (static_cast<double>(counts[2 + order + i]) + 1);
    sum += 1 / static_cast<double>(order) * std::log(precision);
  }
  if (counts[0] > reference_length) return std::exp(sum);
  const double ratio = static_cast<double>(counts[0]) / static_cast<double>(reference_length);
  return std::exp(sum) * std::exp(1 - 1 / ratio);
}

std::unique_ptr<Comparison> compare_bleu(const ReferenceOptions& options, std::span<const Wanted> wanted,
                                         Steps& steps) {
  return std::make_unique<Bleu>(options, wanted, steps);
}

}  // namespace pfgen
