// Lines of trial files, the figures of runs, and the JSON of results.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "bind.hpp"
#include "gil.hpp"
#include "pfgen/json_writer.hpp"
#include "pfgen/rounded_results.hpp"
#include "pfgen/trial_lines.hpp"
#include "scores.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

std::string_view view(const py::bytes& content) {
  char* data = nullptr;
  Py_ssize_t n = 0;
  if (PyBytes_AsStringAndSize(content.ptr(), &data, &n) != 0) throw py::error_already_set();
  return {data, static_cast<std::size_t>(n)};
}

// The trials of a file as Python sees them; keeps the content of the file alive.
class Trials {
 public:
  // `parse` gets the number and the bytes of a line that is no plain JSON and returns its (question, answer).
  Trials(const py::bytes& content, const py::function& parse) : owners_{keep_alive(content)} {
    const std::string_view bytes = view(content);
    {
      const GilReleased no_gil;
      lines_ = std::make_shared<TrialLines>(bytes);
    }
    owners_.push_back(lines_);
    for (TrialLine& line : lines_->lines) {
      if (line.is_read) continue;
      take(line, call_python(parse, py::int_(line.number), py::bytes(line.content.data(), line.content.size())));
    }
  }

  std::size_t size() const { return lines_->lines.size(); }

  TextColumn questions() const { return column("questions", &TrialLine::question); }
  TextColumn answers() const { return column("answers", &TrialLine::answer); }

  std::vector<std::size_t> lengths() const {
    std::vector<std::size_t> lengths;
    for (const TrialLine& line : lines_->lines) lengths.push_back(line.answer_length);
    return lengths;
  }

  py::dict rows_by_question() const {
    std::unordered_map<std::string_view, py::list> known;  // by bytes; the same text may have several encodings
    py::dict rows;
    for (std::size_t row = 0; row < size(); ++row) {
      const TextView& text = lines_->lines[row].question;
      const std::string_view bytes(static_cast<const char*>(text.data), text.n_units * unit_size(text.encoding));
      auto entry = text.encoding == Encoding::kUtf8 ? known.find(bytes) : known.end();
      if (entry != known.end()) {
        entry->second.append(row);
        continue;
      }
      py::list of_question = rows.attr("setdefault")(to_str(text), py::list());
      of_question.append(row);
      if (text.encoding == Encoding::kUtf8) known.emplace(bytes, of_question);
    }
    return rows;
  }

  // None where some value is no text.
  std::optional<py::dict> texts(std::size_t row) const {
    const auto texts = texts_of(line(row).content);
    if (!texts) return std::nullopt;
    py::dict values;
    for (const auto& [key, value] : *texts) values[py::str(key)] = py::str(value);
    return values;
  }

  const TrialLine& line(std::size_t row) const {
    if (row >= size()) throw py::index_error();
    return lines_->lines[row];
  }

 private:
  void take(TrialLine& line, const py::object& parsed) {
    const auto [question, answer] = parsed.cast<std::pair<py::str, py::str>>();
    line.question = view_of_str(question.ptr());
    line.answer = view_of_str(answer.ptr());
    line.answer_length = line.answer.n_units;
    owners_.push_back(keep_alive(parsed));
  }

  TextColumn column(const char* name, TextView TrialLine::* text) const {
    std::vector<TextView> texts;
    texts.reserve(size());
    for (const TrialLine& line : lines_->lines) texts.push_back(line.*text);
    return {name, std::move(texts), owners_};
  }

  std::vector<std::shared_ptr<void>> owners_;
  std::shared_ptr<TrialLines> lines_;
};

// The rows of the run in the batch begin at `first`; there is one row for each length.
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
  if (rows.empty() || std::ranges::any_of(rows, is_bad)) throw py::value_error("expected rows for each question");
  const GilReleased no_gil;
  return aggregate(rows, answers, float_sum);
}

// Writes values of Python as JSON, if their types are exactly those that JSON has, or NumPy's.
class PythonWriter {
 public:
  // Bytes of the type `written` are JSON already.
  PythonWriter(py::handle written, bool is_compact) : json_(0, is_compact), written_(written) {}

  // False if the value cannot be written: it holds another type, a lone surrogate, or too many levels.
  bool write(PyObject* value, std::size_t depth = 0) {
    if (PyUnicode_CheckExact(value)) return write_text(value, [&](std::string_view utf8) { json_.text(utf8); });
    if (PyFloat_CheckExact(value)) {
      json_.number(PyFloat_AS_DOUBLE(value));
    } else if (PyDict_CheckExact(value)) {
      return depth < kMaxDepth && write_object(value, depth + 1);
    } else if (PyList_CheckExact(value) || PyTuple_Check(value)) {
      return depth < kMaxDepth && write_list(value, depth + 1);
    } else if (Py_TYPE(value) == reinterpret_cast<PyTypeObject*>(written_.ptr())) {
      json_.written({PyBytes_AS_STRING(value), static_cast<std::size_t>(PyBytes_GET_SIZE(value))});
    } else if (PyLong_CheckExact(value)) {
      json_.written(std::string(py::str(value)));
    } else if (value == Py_None || PyBool_Check(value)) {
      json_.written(value == Py_None ? "null" : value == Py_True ? "true" : "false");
    } else {
      return depth < kMaxDepth && py::hasattr(value, "tolist") &&
             write(py::object(py::handle(value).attr("tolist")()).ptr(), depth + 1);
    }
    return true;
  }

  std::string take() && { return std::move(json_).take(); }

 private:
  static constexpr std::size_t kMaxDepth = 100;  // also ends values that hold themselves

  template <class Write>
  static bool write_text(PyObject* text, const Write& write) {
    Py_ssize_t n = 0;
    const char* utf8 = PyUnicode_CheckExact(text) ? PyUnicode_AsUTF8AndSize(text, &n) : nullptr;
    if (utf8 != nullptr) write(std::string_view(utf8, static_cast<std::size_t>(n)));
    if (PyErr_Occurred()) PyErr_Clear();
    return utf8 != nullptr;
  }

  bool write_object(PyObject* object, std::size_t depth) {
    json_.begin('{');
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value) != 0;) {
      if (!write_text(key, [&](std::string_view utf8) { json_.key(utf8); }) || !write(value, depth)) return false;
    }
    json_.end('}');
    return true;
  }

  bool write_list(PyObject* list, std::size_t depth) {
    json_.begin('[');
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
      json_.item();
      if (!write(PySequence_Fast_GET_ITEM(list, i), depth)) return false;
    }
    json_.end(']');
    return true;
  }

  JsonWriter json_;
  py::handle written_;
};

std::optional<py::bytes> json_bytes(py::handle value, py::handle written, bool is_compact) {
  PythonWriter writer(written, is_compact);
  return writer.write(value.ptr()) ? std::optional<py::bytes>(std::move(writer).take()) : std::nullopt;
}

}  // namespace

void bind_trials(py::module_& module) {
  py::class_<Trials>(module, "TrialLines", "The trials of a file: one for each line that is not blank.")
      .def(py::init<const py::bytes&, const py::function&>(), py::arg("content"), py::arg("parse"))
      .def("__len__", &Trials::size)
      .def_property_readonly("questions", &Trials::questions)
      .def_property_readonly("answers", &Trials::answers)
      .def_property_readonly("lengths", &Trials::lengths)
      .def_property_readonly("rows_by_question", &Trials::rows_by_question)
      .def("texts", &Trials::texts, py::arg("row"), "All of a line that holds only texts; None of any other.")
      .def(
          "number", [](const Trials& self, std::size_t row) { return self.line(row).number; }, py::arg("row"))
      .def(
          "line",
          [](const Trials& self, std::size_t row) {
            const std::string_view content = self.line(row).content;
            return py::bytes(content.data(), content.size());
          },
          py::arg("row"));
  const auto figures = [](const auto& self) {
    return std::tuple(self.score.mean, self.score.deviation, self.length.mean, self.length.deviation);
  };
  py::class_<QuestionFigures>(module, "QuestionFigures", "The figures of one question.")
      .def_readonly("picked", &QuestionFigures::picked)
      .def_property_readonly("figures", [=](const QuestionFigures& self) { return figures(self); })
      .def_readonly("means", &QuestionFigures::means);
  py::class_<RunFigures>(module, "RunFigures", "The figures of one run.")
      .def_readonly("n_trials", &RunFigures::n_trials)
      .def_property_readonly("figures", [=](const RunFigures& self) { return figures(self); })
      .def_readonly("means", &RunFigures::means)
      .def_readonly("questions", &RunFigures::questions);
  module.def("aggregate", &aggregate_run, py::arg("rows"), py::arg("scores"), py::arg("first"), py::arg("lengths"),
             py::arg("float_sum"), "The figures of one run, rounded.");
  module.def("json_bytes", &json_bytes, py::arg("value"), py::arg("written"), py::arg("is_compact"),
             "The JSON of a value; None if it holds a type other than those of JSON, and `written`: bytes of JSON.");
}

}  // namespace pfgen
