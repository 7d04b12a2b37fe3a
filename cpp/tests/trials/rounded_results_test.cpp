// Figures of runs, in the order of rows: literal examples.
#include <cmath>
#include <limits>

#include "makers/check.hpp"
#include "pfgen/rounded_results.hpp"

namespace pfgen::test {

using Picked = std::vector<std::pair<std::size_t, double>>;

TEST(figures_are_rounded_and_answers_are_picked_by_falling_score) {
  const std::vector<double> score{0.5, 0.25, 0.5, 0.75, 0.0};
  const std::vector<double> length{10.0, 20.0, 30.0, 40.0, 50.0};
  const RunFigures run = aggregate({{4, 1, 0}, {2, 3}}, {score, length, {score, length}}, FloatSum::kNaive);
  CHECK(run.n_trials == 2);
  CHECK(run.questions[0].picked == Picked({{0, 0.5}, {1, 0.25}, {4, 0.0}}));
  CHECK(run.questions[1].picked == Picked({{3, 0.75}, {2, 0.5}}));
  CHECK(run.questions[0].means == std::vector<double>({0.25, 26.66667}));
  CHECK(run.questions[1].score.mean == 0.625 && run.questions[1].score.deviation == 0.125);
  CHECK(run.questions[1].length.mean == 35.0 && run.questions[1].length.deviation == 5.0);
  CHECK(run.score.mean == 0.375 && run.score.deviation == 0.125);
  CHECK(run.length.mean == 30.0 && run.length.deviation == 14.1);
  CHECK(run.means == std::vector<double>({0.4375, 30.83333}));
}

TEST(columns_without_values_do_not_count) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> score{0.5, 0.25};
  const std::vector<double> column{0.123456, kNaN};
  const RunFigures run = aggregate({{0}, {1}}, {score, score, {column}}, FloatSum::kNaive);
  CHECK(std::isnan(run.questions[1].means[0]));
  CHECK(run.means == std::vector<double>({0.06173}));  // half of 0.12346
}

}  // namespace pfgen::test
