// Figures of runs, in the order of rows, and JSON in the form of Python: literal examples.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "makers/check.hpp"
#include "pfgen/aggregate.hpp"
#include "pfgen/json_writer.hpp"

namespace pfgen::test {

TEST(answers_stand_by_falling_score_and_equal_ones_stay) {
  const std::vector<double> score{0.5, 0.25, 0.5, 0.75, 0.0};
  const std::vector<double> length{10.0, 20.0, 30.0, 40.0, 50.0};
  const RunFigures run = aggregate({{4, 1, 0}, {2, 3}}, {score, length, {score, length}}, FloatSum::kNaive);
  CHECK(run.questions[0].order == std::vector<std::size_t>({0, 1, 4}));
  CHECK(run.questions[1].order == std::vector<std::size_t>({3, 2}));
  CHECK(run.questions[0].means == std::vector<double>({0.25, 80.0 / 3.0}));
  CHECK(run.questions[1].score.mean == 0.625 && run.questions[1].score.deviation == 0.125);
  CHECK(run.questions[1].length.mean == 35.0 && run.questions[1].length.deviation == 5.0);
  CHECK(aggregate({{2, 0}}, {score, length, {}}, FloatSum::kNaive).questions[0].order ==
        std::vector<std::size_t>({2, 0}));
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
