#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bind.hpp"
#include "pfgen/answer_record.hpp"
#include "scores.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

void check(const RecordForm& form, const Scores& scores, std::size_t row, const CutAnswer& cut) {
  const auto is_column = [&](std::size_t column) { return column < scores.n_columns(); };
  const auto is_rule = [&](const UnmetRule& unmet) {
    return unmet.rule < form.rule_scores.size() && unmet.named_by < form.rule_names.size();
  };
  if (row >= scores.size() || !std::ranges::all_of(form.fluency_columns, is_column) ||
      !std::ranges::all_of(form.truthfulness_columns, is_column) || !std::ranges::all_of(cut.unmet, is_rule)) {
    throw py::index_error();
  }
}

std::optional<py::bytes> record(const RecordForm& form, std::string_view line, const Scores& scores, std::size_t row,
                                const CutAnswer& cut, std::size_t depth) {
  check(form, scores, row, cut);
  std::vector<double> values;
  for (std::size_t column = 0; column < scores.n_columns(); ++column) values.push_back(scores.column(column)[row]);
  const std::optional<std::string> json = record_json(line, form, values, cut, depth);
  return json ? std::optional<py::bytes>(*json) : std::nullopt;
}

}  // namespace

void bind_answer_record(py::module_& module) {
  py::class_<RecordForm>(module, "RecordForm", "What a question adds to the records of its answers in a result.json.")
      .def(py::init([](std::vector<std::string> set_names, std::vector<std::size_t> fluency_columns,
                       std::vector<std::size_t> truthfulness_columns, std::vector<std::string> rule_names,
                       std::vector<std::string> rule_scores) {
             if (fluency_columns.size() != set_names.size() || truthfulness_columns.size() != set_names.size()) {
               throw py::value_error("each set needs two columns");
             }
             return RecordForm{std::move(set_names), std::move(fluency_columns), std::move(truthfulness_columns),
                               std::move(rule_names), std::move(rule_scores)};
           }),
           py::kw_only(), py::arg("set_names"), py::arg("fluency_columns"), py::arg("truthfulness_columns"),
           py::arg("rule_names"), py::arg("rule_scores"))
      .def("record", &record, py::arg("line"), py::arg("scores"), py::arg("row"), py::arg("cut"), py::arg("depth"),
           "The JSON of a record; None where a line is not plain.");
}

}  // namespace pfgen
