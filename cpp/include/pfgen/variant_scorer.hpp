// Scores with other constants of the rules (docs/scoring.md, section 9): profile leaderboard with any number of sets of
// constants, in one walk over each answer.
//
// For experiments. It has no shortcuts, and equals BatchScorer bit for bit with the usual constants. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pfgen/batch_scorer.hpp"
#include "pfgen/constants.hpp"

namespace pfgen {

class VariantScorer {
 public:
  // Parts of a score, as they lie in the results.
  enum Part : std::size_t { kFluency, kTruthfulness, kHelpfulness, kAverage, kParts };

  // `sets[q][s]` are the answers of set s of question q, which give the baselines. Throws CompileError for constants
  // out of range, another profile, and sets that differ from the references.
  VariantScorer(std::vector<Question> questions, std::span<const ReferenceSets> sets,
                std::span<const Constants> variants, std::size_t n_threads);
  ~VariantScorer();

  const std::vector<Question>& questions() const noexcept { return questions_; }
  std::size_t n_variants() const noexcept;
  // The different look-aheads of the variants, the shortest first.
  const std::vector<std::size_t>& look_aheads() const noexcept { return look_aheads_; }
  // 0 if no reference answer can score with these constants; then the scores are meaningless.
  double baseline(std::size_t question, std::size_t variant, std::size_t set) const noexcept {
    return baselines_[question][variant * questions_[question].set_columns.size() + set];
  }

  // Fills `out`: element `(variant * kParts + part) * answers.size() + row`. Where rules have regexes,
  // `regex_positions` of an answer holds their positions in it cut to each of look_aheads(), one after the other.
  // Throws and pauses as BatchScorer::score.
  void score(std::span<const Answer> answers, std::size_t n_threads, double* out,
             const std::function<void()>& on_pause = {}) const;

 private:
  struct Variant;
  class Block;

  void add_variant(const Constants& constants);
  std::vector<double> baselines_of(std::size_t question, const ReferenceSets& sets) const;

  std::vector<Question> questions_;
  std::vector<Variant> variants_;
  std::vector<std::size_t> look_aheads_;
  std::vector<std::vector<double>> baselines_;  // of each question: by variant, then set
};

}  // namespace pfgen
