// Compiled references, keyword rules, and the questions made of them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "gil.hpp"
#include "pfgen/error.hpp"
#include "pfgen/index_file.hpp"
#include "pfgen/keywords.hpp"
#include "pfgen/question_index.hpp"
#include "question.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

std::vector<std::shared_ptr<const QuestionIndex>> compile_questions(
    const std::vector<std::vector<py::object>>& questions, Profile profile, std::size_t n_threads,
    const std::vector<Lengths>& lengths) {
  if (!lengths.empty() && lengths.size() != questions.size())
    throw py::value_error("expected lengths of each question");
  const BorrowedSets sets(questions);
  const GilReleased no_gil;
  return compile(sets.views(), profile, n_threads, lengths);
}

py::bytes head_of_file(Profile profile, const std::string& metadata_hash, const std::string& details,
                       const std::vector<std::shared_ptr<QuestionIndex>>& questions) {
  std::vector<Section> sections;
  for (const auto& question : questions) sections.push_back(question->section());
  const std::vector<std::byte> head = make_head({profile, metadata_hash, details}, sections);
  return {reinterpret_cast<const char*>(head.data()), head.size()};
}

std::unique_ptr<IndexFile> open_file(const py::buffer& bytes, bool is_own) {
  py::memoryview view(bytes);
  const Py_buffer& buffer = *PyMemoryView_GET_BUFFER(view.ptr());
  if (reinterpret_cast<std::uintptr_t>(buffer.buf) % alignof(std::uint64_t) != 0) {
    throw py::value_error("the bytes of an index begin at a multiple of 8");
  }
  const std::span content(static_cast<const std::byte*>(buffer.buf), static_cast<std::size_t>(buffer.len));
  return std::make_unique<IndexFile>(Section{content, keep_alive(std::move(view))}, is_own);
}

RuleNode::Form form_of(const std::string& form, bool is_regex) {
  if (form == "and") return RuleNode::Form::kAnd;
  if (form == "or") return RuleNode::Form::kOr;
  if (form == "t") return is_regex ? RuleNode::Form::kRegex : RuleNode::Form::kText;
  throw CompileError("a keyword rule of the unknown form '" + form + "'");
}

std::u32string to_u32(const py::object& text) {
  std::vector<char32_t> code_points;
  const TextColumn column(py::make_tuple(text), "pattern", false);
  decode(column[0], kNoError, code_points);
  return {code_points.begin(), code_points.end()};
}

// Without a `text`, the position of the pattern comes with each answer.
RuleNode make_node(const std::string& form, std::uint32_t n_parts, const std::optional<py::object>& text, bool is_named,
                   double importance) {
  return {form_of(form, !text), n_parts, text ? to_u32(*text) : std::u32string(), is_named, importance};
}

}  // namespace

void bind_question(py::module_& module) {
  py::class_<Lengths>(module, "Lengths", "The lengths of a question: the target, and the limit.")
      .def(py::init([](std::size_t target, std::size_t limit) { return Lengths{target, limit}; }),
           py::arg("target") = Lengths().target, py::arg("limit") = Lengths().limit)
      .def("discount", &Lengths::discount, py::arg("n"),
           "The factor by which a length of n units discounts a score; negative past the limit.");
  py::enum_<Profile>(module, "Profile", "Which formulas are used.")
      .value("leaderboard", Profile::kLeaderboard)
      .value("paper", Profile::kPaper)
      .value("normalised", Profile::kNormalised);
  py::class_<QuestionIndex, std::shared_ptr<QuestionIndex>>(
      module, "QuestionIndex", py::buffer_protocol(),
      "The compiled reference sets of one question; a buffer of its section.")
      .def_buffer([](const QuestionIndex& self) {
        const std::span<const std::byte> bytes = self.section().bytes;
        return py::buffer_info(reinterpret_cast<const unsigned char*>(bytes.data()),
                               static_cast<py::ssize_t>(bytes.size()));
      })
      .def(
          "open",
          [](const QuestionIndex& self) {
            const GilReleased no_gil;
            self.references();
          },
          "Checks the section, as the first use does.")
      .def_property_readonly("n_states", &QuestionIndex::n_states)
      .def_property_readonly("n_bytes", [](const QuestionIndex& self) { return self.section().bytes.size(); })
      .def_property_readonly("baselines", &QuestionIndex::baselines);
  module.def("compile", &compile_questions, py::arg("questions"), py::arg("profile"), py::arg("n_threads"),
             py::arg("lengths") = std::vector<Lengths>(), "Indexes the reference sets of many questions.");
  module.attr("__index_version__") = kIndexVersion;
  module.def("index_file_head", &head_of_file, py::arg("profile"), py::arg("metadata_hash"), py::arg("details"),
             py::arg("questions"), "What comes before the sections in the file of an index.");
  py::class_<IndexFile>(module, "IndexFile", "The compiled suite in the bytes of a file, which stay borrowed.")
      .def(py::init(&open_file), py::arg("bytes"), py::arg("is_own") = false)
      .def_property_readonly("profile", [](const IndexFile& self) { return self.head().profile; })
      .def_property_readonly("metadata_hash",
                             [](const IndexFile& self) { return py::bytes(self.head().metadata_hash); })
      .def_property_readonly("details", [](const IndexFile& self) { return py::bytes(self.head().details); })
      .def_property_readonly("questions", &IndexFile::questions);
  py::class_<RuleNode>(module, "RuleNode", "A keyword rule or a part of one; its own parts follow it, depth-first.")
      .def(py::init(&make_node), py::kw_only(), py::arg("form"), py::arg("n_parts"), py::arg("text"),
           py::arg("is_named"), py::arg("importance"));
  py::class_<KeywordRules, std::shared_ptr<KeywordRules>>(module, "KeywordRules", "The keyword rules of one question.")
      .def(py::init<std::vector<RuleNode>, std::uint32_t>(), py::arg("nodes"), py::arg("missing") = 9999);
  py::class_<QuestionSource>(module, "Question", "A question, and the functions that read answers to it.")
      .def(py::init<std::shared_ptr<QuestionIndex>, std::shared_ptr<KeywordRules>, std::vector<std::size_t>,
                    std::vector<py::object>, py::object, Lengths, std::shared_ptr<Spelling>>(),
           py::kw_only(), py::arg("index"), py::arg("rules"), py::arg("set_columns"), py::arg("searchers"),
           py::arg("token_reader"), py::arg("lengths") = Lengths(), py::arg("spelling") = py::none());
}

}  // namespace pfgen
