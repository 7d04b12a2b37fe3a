// The tokenizers of the core, one text at a time.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bind.hpp"
#include "pfgen/tokenizer.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

std::u32string to_u32(const py::str& text) {
  std::vector<char32_t> code_points;
  decode(view_of_str(text.ptr()), kNoError, code_points);
  return {code_points.begin(), code_points.end()};
}

std::vector<py::object> tokens(std::uint8_t tokenizer, const py::str& text) {
  std::vector<py::object> pieces;
  for (const std::u32string& token : tokens_of(static_cast<Tokenizer>(tokenizer), to_u32(text))) {
    pieces.push_back(to_str(token));
  }
  return pieces;
}

py::object lower_case(const py::str& text) {
  std::u32string lowered = to_u32(text);
  lower(lowered);
  return to_str(lowered);
}

}  // namespace

void bind_tokens(py::module_& module) {
  module.def("tokens", &tokens, py::arg("tokenizer"), py::arg("text"),
             "The tokens of a text: the tokenizers are none, char, 13a, intl, zh, rouge and squad.");
  module.def("lower", &lower_case, py::arg("text"), "str.lower() by Unicode 13.0.");
}

}  // namespace pfgen
