// The figures of one run from the scores of its answers, rounded as in its result: section 6 of docs/scoring.md.
//
// The order in which floats are added is part of the rules: by falling score for a question, in file order for the run.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "pfgen/sums.hpp"

namespace pfgen {

// Mean and population standard deviation.
struct Figures {
  double mean;
  double deviation;
};

struct QuestionFigures {
  // Rows with their scores: the best answer, those at the quarters, and the worst. Rows with equal scores keep their
  // order.
  std::vector<std::pair<std::size_t, double>> picked;
  Figures score;
  Figures length;
  std::vector<double> means;  // of each column
};

struct RunFigures {
  std::size_t n_trials;       // the smallest number of answers over the questions
  Figures score;              // over the trials
  Figures length;             // over all answers
  std::vector<double> means;  // of each column over all questions, of which those without values add nothing
  std::vector<QuestionFigures> questions;
};

// Columns with one value for each row; the caller keeps them alive.
struct ScoredAnswers {
  std::span<const double> score;
  std::span<const double> length;
  std::vector<std::span<const double>> columns;
};

// Figures of at least one value, not rounded.
Figures figures_of(std::span<const double> values, FloatSum float_sum);

// `rows[q]` are the rows of question q in file order: at least one question, and one row of each. Every row is one of
// the columns.
RunFigures aggregate(const std::vector<std::vector<std::size_t>>& rows, const ScoredAnswers& answers,
                     FloatSum float_sum);

}  // namespace pfgen
