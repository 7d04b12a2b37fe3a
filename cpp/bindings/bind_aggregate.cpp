#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <span>
#include <vector>

#include "arrow_export.hpp"
#include "bind.hpp"
#include "pfgen/aggregate.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

std::span<const double> view(const Column& column) {
  return {column.data(), static_cast<std::size_t>(column.size())};
}

py::tuple pair(const Figures& figures) { return py::make_tuple(figures.mean, figures.deviation); }

void check(const std::vector<std::vector<std::size_t>>& rows, const ScoredAnswers& answers) {
  const std::size_t n = answers.score.size();
  const auto differs = [&](std::span<const double> column) { return column.size() != n; };
  const auto is_bad = [&](const std::vector<std::size_t>& of_question) {
    return of_question.empty() || std::ranges::max(of_question) >= n;
  };
  if (rows.empty() || std::ranges::any_of(rows, is_bad)) throw py::value_error("each question needs rows of the table");
  if (differs(answers.length) || std::ranges::any_of(answers.columns, differs)) {
    throw py::value_error("columns differ in length");
  }
}

// Returns (number of trials, score, length, [(order, score, length, means), ...]).
py::tuple aggregate_run(const std::vector<std::vector<std::size_t>>& rows, const Column& score,
                        const std::vector<double>& length, const std::vector<Column>& columns, FloatSum float_sum) {
  ScoredAnswers answers{view(score), length, {}};
  for (const Column& column : columns) answers.columns.push_back(view(column));
  check(rows, answers);
  const RunFigures run = [&] {
    const py::gil_scoped_release no_gil;
    return aggregate(rows, answers, float_sum);
  }();
  py::list questions;
  for (const QuestionFigures& question : run.questions) {
    questions.append(py::make_tuple(question.order, pair(question.score), pair(question.length), question.means));
  }
  return py::make_tuple(run.n_trials, pair(run.score), pair(run.length), questions);
}

}  // namespace

void bind_aggregate(py::module_& module) {
  module.def("aggregate", &aggregate_run, py::arg("rows"), py::arg("score"), py::arg("length"), py::arg("columns"),
             py::arg("float_sum"), "The figures of one run, unrounded.");
}

}  // namespace pfgen
