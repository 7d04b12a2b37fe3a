#include "pfgen/rounded_results.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace pfgen {
namespace {

std::vector<double> taken(std::span<const double> column, std::span<const std::size_t> rows) {
  std::vector<double> values(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) values[i] = column[rows[i]];
  return values;
}

double mean_of(std::span<const double> values, FloatSum float_sum) {
  return sum(values, float_sum) / static_cast<double>(values.size());
}

constexpr int kScoreDigits = 4, kLengthDigits = 1, kMeanDigits = 5;

Figures rounded(const Figures& figures, int digits) {
  return {round_decimal(figures.mean, digits), round_decimal(figures.deviation, digits)};
}

std::vector<std::pair<std::size_t, double>> pick(std::span<const std::size_t> rows, std::span<const double> score) {
  std::vector<std::pair<std::size_t, double>> picked;
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const std::size_t row =
        rows[static_cast<std::size_t>(std::nearbyint(share * static_cast<double>(rows.size() - 1)))];
    if (picked.empty() || picked.back().first != row) picked.emplace_back(row, score[row]);
  }
  return picked;
}

// Rounded at every step, as the published figures are.
std::vector<double> overall_means(std::span<const QuestionFigures> questions) {
  std::vector<double> means(questions.front().means.size());
  for (const QuestionFigures& question : questions) {
    for (std::size_t column = 0; column < means.size(); ++column) {
      if (std::isnan(question.means[column])) continue;
      means[column] =
          round_decimal(means[column] + question.means[column] / static_cast<double>(questions.size()), kMeanDigits);
    }
  }
  return means;
}

QuestionFigures aggregate_question(std::vector<std::size_t> rows, const ScoredAnswers& answers, FloatSum float_sum) {
  std::ranges::stable_sort(rows, std::ranges::greater{}, [&](std::size_t row) { return answers.score[row]; });
  std::vector<double> means;
  means.reserve(answers.columns.size());
  for (const auto& column : answers.columns) {
    means.push_back(round_decimal(mean_of(taken(column, rows), float_sum), kMeanDigits));
  }
  return {pick(rows, answers.score), rounded(figures_of(taken(answers.score, rows), float_sum), kScoreDigits),
          rounded(figures_of(taken(answers.length, rows), float_sum), kLengthDigits), std::move(means)};
}

// The score of each trial: the mean over the questions of their answers of that number.
std::vector<double> score_by_trial(const std::vector<std::vector<std::size_t>>& rows, std::size_t n_trials,
                                   std::span<const double> score, FloatSum float_sum) {
  std::vector<double> by_trial(n_trials);
  std::vector<double> of_trial(rows.size());
  for (std::size_t trial = 0; trial < n_trials; ++trial) {
    for (std::size_t question = 0; question < rows.size(); ++question) {
      of_trial[question] = score[rows[question][trial]];
    }
    by_trial[trial] = mean_of(of_trial, float_sum);
  }
  return by_trial;
}

}  // namespace

Figures figures_of(std::span<const double> values, FloatSum float_sum) {
  const double mean = mean_of(values, float_sum);
  std::vector<double> squares(values.size());
  std::ranges::transform(values, squares.begin(), [&](double value) { return (value - mean) * (value - mean); });
  return {mean, std::sqrt(mean_of(squares, float_sum))};
}

RunFigures aggregate(const std::vector<std::vector<std::size_t>>& rows, const ScoredAnswers& answers,
                     FloatSum float_sum) {
  const std::size_t n_trials = std::ranges::min_element(rows, {}, &std::vector<std::size_t>::size)->size();
  std::vector<double> lengths;
  const Figures score = figures_of(score_by_trial(rows, n_trials, answers.score, float_sum), float_sum);
  RunFigures run{n_trials, rounded(score, kScoreDigits), {}, {}, {}};
  for (const auto& of_question : rows) {
    for (const std::size_t row : of_question) lengths.push_back(answers.length[row]);
    run.questions.push_back(aggregate_question(of_question, answers, float_sum));
  }
  run.length = rounded(figures_of(lengths, float_sum), kLengthDigits);
  run.means = overall_means(run.questions);
  return run;
}

}  // namespace pfgen
