// The score of one answer from its parts (docs/scoring.md, section 5): parts are rounded, then summed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pfgen/sums.hpp"

namespace pfgen {

// One answer in one set.
struct SetScore {
  double fluency;
  double truthfulness;
};

// The rounded parts of the sets. The memory is used again for every answer.
class RoundedSets {
 public:
  void clear() noexcept {
    fluency_.clear();
    truthfulness_.clear();
  }
  // Each of `n_sets` sets has its share of the sum.
  void add(const SetScore& score, std::size_t n_sets) {
    const auto k = static_cast<double>(n_sets);
    fluency_.push_back(round_decimal(score.fluency / k, 6));
    truthfulness_.push_back(round_decimal(score.truthfulness / k, 6));
  }

  const std::vector<double>& fluency() const noexcept { return fluency_; }
  const std::vector<double>& truthfulness() const noexcept { return truthfulness_; }

 private:
  std::vector<double> fluency_;
  std::vector<double> truthfulness_;
};

struct AnswerScore {
  double fluency;
  double truthfulness;
  double helpfulness;
  double average;
};

// The parts of the sets are rounded.
inline AnswerScore average(std::span<const double> fluency, std::span<const double> truthfulness, double helpfulness,
                           FloatSum float_sum) noexcept {
  AnswerScore score{sum(fluency, float_sum), sum(truthfulness, float_sum), round_decimal(helpfulness, 5), 0.0};
  score.average = round_decimal((score.fluency + score.truthfulness + score.helpfulness) / 3.0, 5);
  return score;
}

}  // namespace pfgen
