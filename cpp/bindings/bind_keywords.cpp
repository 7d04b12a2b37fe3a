#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <tuple>

#include "bind.hpp"
#include "pfgen/error.hpp"
#include "pfgen/keywords.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

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

// `nodes[i]` is (form, n_parts, plain text or None for a regex, is_named, importance), depth-first.
using Node = std::tuple<std::string, std::uint32_t, std::optional<py::object>, bool, double>;

std::shared_ptr<KeywordRules> make_rules(const std::vector<Node>& nodes) {
  std::vector<RuleNode> rules;
  for (const auto& [form, n_parts, text, is_named, importance] : nodes) {
    rules.push_back({form_of(form, !text), n_parts, text ? to_u32(*text) : std::u32string(), is_named, importance});
  }
  return std::make_shared<KeywordRules>(std::move(rules));
}

}  // namespace

void bind_keywords(py::module_& module) {
  py::class_<KeywordRules, std::shared_ptr<KeywordRules>>(module, "KeywordRules", "The keyword rules of one question.")
      .def(py::init(&make_rules), py::arg("nodes"));
}

}  // namespace pfgen
