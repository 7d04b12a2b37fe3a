#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "answer_reader.hpp"
#include "arrow_export.hpp"
#include "bind.hpp"
#include "pfgen/answer_record.hpp"
#include "pfgen/batch_scorer.hpp"
#include "question.hpp"
#include "scores.hpp"
#include "text_column.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

void check_record(const RecordForm& form, const Scores& scores, std::size_t row, const CutAnswer& cut) {
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
  check_record(form, scores, row, cut);
  std::vector<double> values;
  for (std::size_t column = 0; column < scores.n_columns(); ++column) values.push_back(scores.column(column)[row]);
  const std::optional<std::string> json = record_json(line, form, values, cut, depth);
  return json ? std::optional<py::bytes>(*json) : std::nullopt;
}

// The batch scorer as Python sees it: questions by key, and the functions that apply regexes or spell in tokens.
class Scorer {
 public:
  Scorer(const std::vector<QuestionSource>& questions, py::dict codes, std::size_t n_set_columns, FloatSum float_sum)
      : codes_(std::move(codes)),
        n_set_columns_(n_set_columns),
        scorer_(taken(questions), float_sum),
        readers_(questions.begin(), questions.end()) {}

  Scores score(py::handle questions, const TextColumn& answers, std::size_t n_threads) const {
    Scores scores(answers.size(), n_set_columns_);
    resolve(questions, scores.codes());
    run(scores.codes(), answers, n_threads, scores.columns());
    return scores;
  }

  py::array_t<double> reward(py::handle questions, py::handle answers, std::size_t n_threads) const {
    const TextColumn column(answers, "answers", false);
    std::vector<std::int32_t> codes(column.size());
    resolve(questions, codes);
    import_numpy();
    py::array_t<double> average(static_cast<py::ssize_t>(column.size()));
    std::vector<double> parts(3 * column.size());
    double* part = parts.data();
    run(codes, column, n_threads,
        {part, part + column.size(), part + 2 * column.size(), average.mutable_data(), nullptr, nullptr});
    return average;
  }

  std::vector<std::optional<py::bytes>> records(const std::vector<py::object>& forms, const Scores& scores,
                                                const TextColumn& answers, const std::vector<std::size_t>& rows,
                                                const std::vector<py::bytes>& lines, std::size_t depth) const {
    if (forms.size() != readers_.size() || lines.size() != rows.size() || answers.size() != scores.size()) {
      throw py::value_error("expected a form for each question, and a line for each row");
    }
    std::vector<std::optional<py::bytes>> records;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint32_t code = checked_code(scores, rows[i]);
      const auto& form = forms[code].cast<const RecordForm&>();
      records.push_back(record(form, lines[i], scores, rows[i], details(code, answers, rows[i]), depth));
    }
    return records;
  }

  // The same scorer with another float sum.
  Scorer with_float_sum(FloatSum float_sum) const {
    Scorer other = *this;
    other.scorer_ = BatchScorer(scorer_.questions(), float_sum);
    return other;
  }

  // The scores of `n` rows from `first` on, added up with the float sum of this scorer.
  Scores added_up(const Scores& scores, std::size_t first, std::size_t n) const {
    if (first > scores.size() || n > scores.size() - first || scores.n_sets() != n_set_columns_) {
      throw py::value_error("expected scores of this suite");
    }
    Scores result(n, n_set_columns_);
    std::ranges::copy(scores.codes().subspan(first, n), result.codes().begin());
    for (std::size_t column = 0; column < scores.n_columns(); ++column) {
      std::ranges::copy(scores.column(column).subspan(first, n), result.columns().fluency + column * n);
    }
    for (std::size_t row = 0; row < n; ++row) checked_code(result, row);
    scorer_.add_up(result.codes(), result.columns());
    return result;
  }

  CutAnswer details(std::uint32_t code, const TextColumn& answers, std::size_t row) const {
    if (code >= readers_.size() || row >= answers.size()) throw py::index_error();
    NormalisedText memory;
    const ReadAnswer answer = readers_[code].read(answers[row], memory);
    const HelpfulnessDetails best = scorer_.details({answer.text, code, answer.positions.data()});
    CutAnswer details{best.truncation, best.score, {}};
    for (std::size_t rule = 0; rule < best.rules.size(); ++rule) {
      const auto& [position, named_by] = best.rules[rule];
      if (best.truncation < position) details.unmet.push_back({rule, named_by});
    }
    return details;
  }

 private:
  static std::vector<Question> taken(const std::vector<QuestionSource>& questions) {
    std::vector<Question> taken;
    for (const QuestionSource& question : questions) taken.push_back(question.taken());
    return taken;
  }

  // Python may have made the scores.
  std::uint32_t checked_code(const Scores& scores, std::size_t row) const {
    if (row >= scores.size()) throw py::index_error();
    const auto code = static_cast<std::uint32_t>(scores.codes()[row]);
    if (code >= readers_.size()) throw py::index_error();
    return code;
  }

  std::int32_t code_of(py::handle key, std::optional<std::size_t> row) const {
    PyObject* code = PyDict_GetItemWithError(codes_.ptr(), key.ptr());
    if (code != nullptr) return static_cast<std::int32_t>(PyLong_AsLong(code));
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
    PyErr_Clear();  // an unhashable key is merely unknown
    throw UnknownQuestion{row, py::reinterpret_borrow<py::object>(key)};
  }

  // Finds the codes of the questions: one key for all rows, or a column of keys.
  void resolve(py::handle questions, std::span<std::int32_t> codes) const {
    if (PyUnicode_Check(questions.ptr())) {
      std::ranges::fill(codes, code_of(questions, std::nullopt));
      return;
    }
    const std::size_t n_rows = codes.size();
    const TextColumn keys(questions, "questions", false);
    if (keys.size() != n_rows) {
      throw BadColumn{"questions", std::to_string(keys.size()) + " questions for " + std::to_string(n_rows) +
                                       " answers; expected one for each, or one str for all"};
    }
    // The same few texts come again and again: each is looked up once. Equal bytes mean equal texts only within one
    // encoding. Often they are the same objects.
    std::array<std::unordered_map<std::string_view, std::int32_t>, 4> known;
    struct {
      TextView key;
      std::int32_t code;
    } latest[256] = {};
    for (std::size_t row = 0; row < n_rows; ++row) {
      const TextView& key = keys[row];
      auto& same_object = latest[reinterpret_cast<std::uintptr_t>(key.data) / 64 % std::size(latest)];
      if (same_object.key.data == key.data && same_object.key.n_units == key.n_units && key.n_units != 0) {
        codes[row] = same_object.code;
        continue;
      }
      const std::string_view bytes(static_cast<const char*>(key.data), key.n_units * unit_size(key.encoding));
      auto& same_encoding = known[static_cast<std::size_t>(key.encoding)];
      auto entry = same_encoding.find(bytes);
      if (entry == same_encoding.end()) entry = same_encoding.emplace(bytes, code_of(keys.item(row), row)).first;
      codes[row] = entry->second;
      same_object = {key, entry->second};
    }
  }

  void run(std::span<const std::int32_t> codes, const TextColumn& texts, std::size_t n_threads,
           const ScoreColumns& columns) const {
    const ReadAnswers read(readers_, codes, texts);
    if (is_brief(read.answers())) {
      scorer_.score(read.answers(), 1, columns, nullptr);
      return;
    }
    const GilReleased no_gil;
    scorer_.score(read.answers(), n_threads, columns, check_signals);
  }

  // Whether the answers take less time than other threads would gain by it.
  static bool is_brief(std::span<const Answer> answers) {
    return answers.size() <= 1 && std::ranges::all_of(answers, [](const Answer& a) { return a.text.n_units <= 1000; });
  }

  py::dict codes_;
  std::size_t n_set_columns_;
  BatchScorer scorer_;
  std::vector<AnswerReader> readers_;  // per question
};

// `columns` has a row for each column.
Scores scores_of(const CodeColumn& codes, const Column& columns) {
  const auto n_columns = static_cast<std::size_t>(columns.ndim() == 2 ? columns.shape(0) : 0);
  if (n_columns <= Scores::kAverage || n_columns % 2 != 0 || columns.shape(1) != codes.size()) {
    throw py::value_error("expected at least one column of scores");
  }
  Scores scores(static_cast<std::size_t>(codes.size()), (n_columns - Scores::kAverage - 1) / 2);
  std::copy_n(codes.data(), codes.size(), scores.codes().begin());
  std::copy_n(columns.data(), columns.size(), scores.columns().fluency);
  return scores;
}

std::unique_ptr<NormalisedText> read_normalised(const py::str& text, bool has_spaces) {
  auto read = std::make_unique<NormalisedText>(has_spaces ? Gaps::kSpaces : Gaps::kNothing);
  read->read(view_of_str(text.ptr()), kNoError);
  return read;
}

std::uint32_t position_in(const TextForm& form, std::size_t n) {
  if (n > form.size()) throw py::index_error();
  return form.position(n);
}

// The code of a row's question, and its value in each column.
struct ScoresRow {
  std::int32_t code;
  py::tuple values;
};

ScoresRow row_of(const Scores& scores, std::size_t row) {
  if (row >= scores.size()) throw py::index_error();
  py::tuple values(scores.n_columns());
  for (std::size_t i = 0; i < scores.n_columns(); ++i) values[i] = scores.column(i)[row];
  return {scores.codes()[row], std::move(values)};
}

}  // namespace

void bind_scorer(py::module_& module) {
  py::enum_<FloatSum>(module, "FloatSum", "How rounded parts are added up.")
      .value("compensated", FloatSum::kCompensated)
      .value("naive", FloatSum::kNaive);
  py::class_<ScoresRow>(module, "ScoresRow", "The scores of one row.")
      .def_readonly("code", &ScoresRow::code)
      .def_readonly("values", &ScoresRow::values);
  py::class_<Scores>(module, "Scores", "The scores of a batch.")
      .def(py::init(&scores_of), py::arg("codes"), py::arg("columns"))
      .def("__len__", &Scores::size)
      .def_property_readonly(
          "codes", [](const py::object& self) { return read_only_view(self.cast<const Scores&>().codes(), self); })
      .def(
          "column",
          [](const py::object& self, std::size_t i) {
            const auto& scores = self.cast<const Scores&>();
            if (i >= scores.n_columns()) throw py::index_error();
            return read_only_view(scores.column(i), self);
          },
          py::arg("i"))
      .def("row", &row_of, py::arg("row"));
  py::class_<UnmetRule>(module, "UnmetRule", "A rule that is not met, and the node that names it.")
      .def_readonly("rule", &UnmetRule::rule)
      .def_readonly("named_by", &UnmetRule::named_by);
  py::class_<CutAnswer>(module, "CutAnswer", "Where an answer is cut for its helpfulness, and what it lacks there.")
      .def_readonly("truncation", &CutAnswer::truncation)
      .def_readonly("score", &CutAnswer::score)
      .def_readonly("unmet", &CutAnswer::unmet);
  py::class_<RecordForm>(module, "RecordForm", "What a question adds to the records of its answers in a result.json.")
      .def(py::init([](std::vector<std::string> set_names, std::vector<std::size_t> fluency_columns,
                       std::vector<std::size_t> truthfulness_columns, std::vector<std::string> rule_names,
                       std::vector<std::string> rule_scores, const Lengths& lengths) {
             if (fluency_columns.size() != set_names.size() || truthfulness_columns.size() != set_names.size()) {
               throw py::value_error("expected two columns for each set");
             }
             return RecordForm{std::move(set_names),  std::move(fluency_columns), std::move(truthfulness_columns),
                               std::move(rule_names), std::move(rule_scores),     lengths};
           }),
           py::kw_only(), py::arg("set_names"), py::arg("fluency_columns"), py::arg("truthfulness_columns"),
           py::arg("rule_names"), py::arg("rule_scores"), py::arg("lengths"));
  py::class_<Scorer>(module, "Scorer", "Scores batches of answers to known questions.")
      .def(py::init<const std::vector<QuestionSource>&, py::dict, std::size_t, FloatSum>(), py::arg("questions"),
           py::arg("codes"), py::arg("n_set_columns"), py::arg("float_sum"))
      .def("score", &Scorer::score, py::arg("questions"), py::arg("answers"), py::arg("n_threads"))
      .def("with_float_sum", &Scorer::with_float_sum, py::arg("float_sum"), "The same scorer with another float sum.")
      .def("added_up", &Scorer::added_up, py::arg("scores"), py::arg("first"), py::arg("n"),
           "The scores of some rows, added up with the float sum of this scorer.")
      .def("reward", &Scorer::reward, py::arg("questions"), py::arg("answers"), py::arg("n_threads"))
      .def("details", &Scorer::details, py::arg("code"), py::arg("answers"), py::arg("row"))
      .def("records", &Scorer::records, py::arg("forms"), py::arg("scores"), py::arg("answers"), py::arg("rows"),
           py::arg("lines"), py::arg("depth"), "The JSON of a record for each row, None where its line is not plain.");
  module.def(
      "sum", [](const std::vector<double>& values, FloatSum float_sum) { return sum(values, float_sum); },
      py::arg("values"), py::arg("float_sum"), "Adds up floats in their order.");
  py::class_<TextForm>(module, "TextForm", "A form of a text in which keyword rules are searched.")
      .def(
          "cut", [](const TextForm& self, std::size_t limit) { return to_str(self.cut(limit)); }, py::arg("limit"),
          "The longest prefix with at most so many units.")
      .def("position", &position_in, py::arg("n"), "The number of units of the first n code points.");
  py::class_<NormalisedText>(module, "NormalisedText", "A text as profile normalised reads it.")
      .def(py::init(&read_normalised), py::arg("text"), py::arg("has_spaces"))
      .def_property_readonly("units",
                             [](const NormalisedText& self) {
                               return to_str(std::u32string_view(self.units().data(), self.units().size()));
                             })
      .def_property_readonly("forms", [](const NormalisedText& self) {
        std::vector<TextForm> forms;
        for (std::size_t i = 0; i < kTextForms; ++i) forms.push_back(self.form(i));
        return forms;
      });
  module.def("export_stream", &export_stream, py::arg("n_rows"), py::arg("coded"), py::arg("names"), py::arg("columns"),
             "An Arrow stream of float columns, and of a dictionary-encoded column before them.");
}

}  // namespace pfgen
