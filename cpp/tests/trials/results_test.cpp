// Figures of runs, in the order of rows, and JSON in the form of Python: literal examples.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "makers/check.hpp"
#include "pfgen/aggregate.hpp"
#include "pfgen/json_writer.hpp"

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

TEST(of_many_answers_five_are_picked) {
  const std::vector<double> score{0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.6};
  const std::vector<std::size_t> rows{0, 1, 2, 3, 4, 5, 6, 7};
  const auto picked = [&](std::size_t n) {
    return aggregate({{rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n)}}, {score, score, {}},
                     FloatSum::kNaive)
        .questions[0]
        .picked;
  };
  CHECK(picked(8) ==
        Picked({{6, 0.6}, {5, 0.5}, {3, 0.3}, {2, 0.2}, {0, 0.0}}));  // places 1.75, 3.5 and 5.25 of 0 to 7
  CHECK(picked(3) == Picked({{2, 0.2}, {1, 0.1}, {0, 0.0}}));         // 0.5 and 1.5 are rounded to even numbers
  CHECK(picked(1) == Picked({{0, 0.0}}));
}

TEST(columns_without_values_do_not_count) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> score{0.5, 0.25};
  const std::vector<double> column{0.123456, kNaN};
  const RunFigures run = aggregate({{0}, {1}}, {score, score, {column}}, FloatSum::kNaive);
  CHECK(std::isnan(run.questions[1].means[0]));
  CHECK(run.means == std::vector<double>({0.06173}));  // half of 0.12346
}

TEST(a_number_is_the_repr_of_python) {
  std::istringstream known(
      "0.0 -0.0 1.0 0.1 -84.5 0.728749 0.30000000000000004 0.0001 1e-05 1.2e-05 123456789.0 1000000000000000.0 "
      "9007199254740994.0 1e+16 1.5e+300 5e-324 5.684341886080802e-14 NaN Infinity -Infinity");
  for (std::string text; known >> text;) CHECK(json_number(std::strtod(text.c_str(), nullptr)) == text);
}

std::string text_of(std::string_view utf8) {
  JsonWriter json(0);
  json.text(utf8);
  return std::move(json).take();
}

TEST(a_text_has_the_escapes_of_python) {
  CHECK(text_of("") == "\"\"");
  CHECK(text_of("a\"b\\c") == R"("a\"b\\c")");
  CHECK(text_of("\b\f\n\r\t") == R"("\b\f\n\r\t")");
  CHECK(text_of(std::string_view("\0\x1f\x7f", 3)) == "\"\\u0000\\u001f\x7f\"");
  CHECK(text_of("\u6642\u8a08 \u2028") == "\"\u6642\u8a08 \u2028\"");
}

}  // namespace pfgen::test
