#include <algorithm>

#include "references/comparison.hpp"
#include "references/ngram_matcher.hpp"

namespace pfgen {
namespace {

std::size_t highest_order(std::span<const Wanted> wanted) { return std::ranges::max(wanted, {}, &Wanted::order).order; }

// ROUGE-N.
class RougeN : public Comparison {
 public:
  RougeN(Reduce reduce, std::span<const Wanted> wanted)
      : wanted_(wanted.begin(), wanted.end()),
        reduce_(reduce),
        place_(wanted.front().tokens),
        matcher_(highest_order(wanted)),
        matches_(matcher_.order()) {}

  void set_answer(const PreparedText& answer) override {
    matcher_.set_answer(answer.tokens[place_]);
    n_of_answer_ = answer.tokens[place_].size();
    forget_references();
  }

  void forget_references() override { shares_.assign(wanted_.size(), ReducedShares(reduce_)); }

  void add_reference(const PreparedText& reference) override {
    const std::vector<TokenId>& tokens = reference.tokens[place_];
    matcher_.match(tokens, matches_.data());
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::size_t n = wanted_[i].order;
      const auto n_found = static_cast<std::size_t>(matches_[n - 1]);
      shares_[i].add(shares_of(n_found, n_ngrams(tokens.size(), n), n_ngrams(n_of_answer_, n)));
    }
  }

  void finish(const ResultRow& row) override {
    for (std::size_t i = 0; i < wanted_.size(); ++i) row.set_shares(wanted_[i], shares_[i].value());
  }

 private:
  std::vector<Wanted> wanted_;
  Reduce reduce_;
  std::size_t place_;
  NgramMatcher matcher_;
  std::vector<std::int64_t> matches_;  // by order
  std::size_t n_of_answer_ = 0;
  std::vector<ReducedShares> shares_;  // by metric
};

// Shares of the n-grams of the answer, without references.
class OwnShares : public Comparison {
 public:
  explicit OwnShares(std::span<const Wanted> wanted)
      : wanted_(wanted.begin(), wanted.end()), place_(wanted.front().tokens), tree_(highest_order(wanted)) {}

  void set_answer(const PreparedText& answer) override {
    tree_.set_answer(answer.tokens[place_]);
    n_of_answer_ = answer.tokens[place_].size();
  }

  void add_reference(const PreparedText&) override {}

  void finish(const ResultRow& row) override {
    for (const Wanted& wanted : wanted_) {
      const std::size_t n_all = n_ngrams(n_of_answer_, wanted.order);
      if (n_all == 0) continue;  // NaN
      const auto n_different = static_cast<double>(tree_.n_different(wanted.order));
      const bool is_distinct = wanted.metric == ReferenceMetric::kDistinct;
      row.set(wanted.column, is_distinct ? n_different / static_cast<double>(n_all)
                                         : static_cast<double>(tree_.n_repeated(wanted.order)) / n_different);
    }
  }

 private:
  std::vector<Wanted> wanted_;
  std::size_t place_;
  NgramTree tree_;
  std::size_t n_of_answer_ = 0;
};

}  // namespace

std::unique_ptr<Comparison> compare_rouge_n(const ReferenceOptions& options, std::span<const Wanted> wanted) {
  return std::make_unique<RougeN>(options.reduce, wanted);
}

std::unique_ptr<Comparison> compare_with_itself(std::span<const Wanted> wanted) {
  return std::make_unique<OwnShares>(wanted);
}

}  // namespace pfgen
