#include <algorithm>

#include "references/comparison.hpp"
#include "references/ngram_matcher.hpp"

namespace pfgen {
namespace {

std::size_t highest_order(std::span<const Wanted> wanted) { return std::ranges::max(wanted, {}, &Wanted::order).order; }

class NgramColumns : public Comparison {
 public:
  explicit NgramColumns(std::span<const Wanted> wanted)
      : wanted_(wanted.begin(), wanted.end()),
        place_(wanted.front().tokens),
        matcher_(highest_order(wanted)),
        matches_(matcher_.order()) {}

  void begin(std::span<const PreparedText> answers) override {
    answers_ = answers;
    matcher_.begin(n_tokens(answers, place_));
    for (const PreparedText& answer : answers) matcher_.add_answer(answer.tokens[place_]);
    best_.assign(answers.size() * wanted_.size(), {});
  }

  void add_reference(const PreparedText& reference) override {
    const std::vector<TokenId>& tokens = reference.tokens[place_];
    matcher_.count(tokens);
    for (std::size_t answer = 0; answer < answers_.size(); ++answer) {
      matcher_.match(answer, matches_.data());
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        if (!wanted_[i].needs_references()) continue;
        const std::size_t n = wanted_[i].order;
        const Shares shares =
            shares_of(static_cast<std::size_t>(matches_[n - 1]), n_ngrams(tokens.size(), n), n_of(answer, n));
        keep_best(shares, best_[answer * wanted_.size() + i]);
      }
    }
  }

  void finish(std::size_t answer, const ResultRow& row) override {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const Wanted& wanted = wanted_[i];
      if (wanted.needs_references()) {
        row.set_shares(wanted, best_[answer * wanted_.size() + i]);
        continue;
      }
      const auto n_all = static_cast<double>(n_of(answer, wanted.order));
      const auto n_different = static_cast<double>(matcher_.n_different(answer, wanted.order, 1));
      if (n_all == 0) continue;  // NaN
      const bool is_distinct = wanted.metric == ReferenceMetric::kDistinct;
      const auto n_repeated = static_cast<double>(matcher_.n_different(answer, wanted.order, 2));
      row.set(wanted.column, is_distinct ? n_different / n_all : n_repeated / n_different);
    }
  }

 private:
  std::size_t n_of(std::size_t answer, std::size_t n) const {
    return n_ngrams(answers_[answer].tokens[place_].size(), n);
  }

  std::vector<Wanted> wanted_;
  std::size_t place_;
  NgramMatcher matcher_;
  std::vector<std::int64_t> matches_;  // by order
  std::span<const PreparedText> answers_;
  std::vector<Shares> best_;  // by answer, then metric
};

}  // namespace

std::unique_ptr<Comparison> compare_ngrams(std::span<const Wanted> wanted) {
  return std::make_unique<NgramColumns>(wanted);
}

}  // namespace pfgen
