
#include "references/answer_match.hpp"
#include "references/comparison.hpp"

namespace pfgen {
namespace {

class SequenceColumns : public Comparison {
 public:
  SequenceColumns(Reduce reduce, std::span<const Wanted> wanted, Steps& steps)
      : wanted_(wanted.begin(), wanted.end()), reduce_(reduce), place_(wanted.front().tokens), rouge_(steps) {}

  void set_answer(const PreparedText& answer) override {
    answer_ = &answer;
    forget_references();
  }

  void forget_references() override { shares_.assign(wanted_.size(), ReducedShares(reduce_)); }

  void add_reference(const PreparedText& reference) override {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      shares_[i].add(compare(wanted_[i].metric, reference, *answer_));
    }
  }

  void finish(const ResultRow& row) override {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i].n_columns() == 1) {
        row.set(wanted_[i].column, shares_[i].value().f);
      } else {
        row.set_shares(wanted_[i], shares_[i].value());
      }
    }
  }

 private:
  Shares compare(ReferenceMetric metric, const PreparedText& reference, const PreparedText& answer) {
    const Tokens of_reference = reference.tokens[place_];
    const Tokens of_answer = answer.tokens[place_];
    switch (metric) {
      case ReferenceMetric::kRougeL:
        return rouge_.lcs(of_reference, of_answer);
      case ReferenceMetric::kRougeLsum:
        return rouge_.summary_lcs(reference.sentences, answer.sentences);
      case ReferenceMetric::kTokenF1:
        return {.f = token_f1(of_reference, of_answer, rouge_)};
      default:
        return {.f = exact_match(of_reference, of_answer)};
    }
  }

  std::vector<Wanted> wanted_;
  Reduce reduce_;
  std::size_t place_;
  Rouge rouge_;
  const PreparedText* answer_ = nullptr;
  std::vector<ReducedShares> shares_;  // by metric
};

}  // namespace

std::unique_ptr<Comparison> compare_sequences(const ReferenceOptions& options, std::span<const Wanted> wanted,
                                              Steps& steps) {
  return std::make_unique<SequenceColumns>(options.reduce, wanted, steps);
}

}  // namespace pfgen
