// How much a character counts in truthfulness, by the document frequency of the 3-grams over it (docs/scoring.md,
// section 3).
#pragma once

#include <algorithm>
#include <vector>

namespace pfgen {

// 1 / threshold: of the threshold 0.005 it is exactly 200.
inline constexpr double kScale = 200.0;

// The support of each frequency among `n_answers`. The last is 1.0; all higher frequencies have it too.
inline std::vector<double> support_by_frequency(double n_answers) {
  std::vector<double> support;
  for (double frequency = 0.0; support.empty() || support.back() < 1.0; frequency += 1.0) {
    support.push_back(std::min(1.0, frequency / n_answers * kScale));
  }
  return support;
}

}  // namespace pfgen
