#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <span>
#include <vector>

#include "bind.hpp"
#include "gil.hpp"
#include "pfgen/aggregate.hpp"
#include "scores.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

// The rows of the batch from `first` on are those of the run; there is one for each length.
ScoredAnswers answers_of(const Scores& scores, std::size_t first, std::span<const double> lengths) {
  if (first > scores.size() || lengths.size() > scores.size() - first) {
    throw py::value_error("the run has more answers than the batch");
  }
  const auto part = [&](std::size_t column) { return scores.column(column).subspan(first, lengths.size()); };
  ScoredAnswers answers{part(Scores::kAverage), lengths, {}};
  for (std::size_t column = 0; column < scores.n_columns(); ++column) answers.columns.push_back(part(column));
  return answers;
}

RunFigures aggregate_run(const std::vector<std::vector<std::size_t>>& rows, const Scores& scores, std::size_t first,
                         const std::vector<double>& lengths, FloatSum float_sum) {
  const ScoredAnswers answers = answers_of(scores, first, lengths);
  const auto is_bad = [&](const std::vector<std::size_t>& of_question) {
    return of_question.empty() || std::ranges::max(of_question) >= lengths.size();
  };
  if (rows.empty() || std::ranges::any_of(rows, is_bad)) throw py::value_error("each question needs rows of the run");
  const GilReleased no_gil;
  return aggregate(rows, answers, float_sum);
}

}  // namespace

void bind_aggregate(py::module_& module) {
  py::class_<Figures>(module, "Figures", "Mean and population standard deviation.")
      .def_readonly("mean", &Figures::mean)
      .def_readonly("deviation", &Figures::deviation);
  py::class_<QuestionFigures>(module, "QuestionFigures", "The figures of one question.")
      .def_readonly("order", &QuestionFigures::order)
      .def_readonly("score", &QuestionFigures::score)
      .def_readonly("length", &QuestionFigures::length)
      .def_readonly("means", &QuestionFigures::means);
  py::class_<RunFigures>(module, "RunFigures", "The figures of one run.")
      .def_readonly("n_trials", &RunFigures::n_trials)
      .def_readonly("score", &RunFigures::score)
      .def_readonly("length", &RunFigures::length)
      .def_readonly("questions", &RunFigures::questions);
  module.def("aggregate", &aggregate_run, py::arg("rows"), py::arg("scores"), py::arg("first"), py::arg("lengths"),
             py::arg("float_sum"), "The figures of one run, unrounded.");
}

}  // namespace pfgen
