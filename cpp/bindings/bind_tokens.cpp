// The tokenizers of the core, one text at a time, and the spelling of texts in words.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bind.hpp"
#include "pfgen/spelling.hpp"
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

std::vector<std::u32string> to_u32(const std::vector<py::str>& texts) {
  std::vector<std::u32string> code_points;
  code_points.reserve(texts.size());
  for (const py::str& text : texts) code_points.push_back(to_u32(text));
  return code_points;
}

std::shared_ptr<Spelling> make_spelling(TokenPattern pattern, const std::vector<py::str>& words, const py::str& symbols,
                                        const py::str& unknown) {
  std::u32string code_points = to_u32(symbols);
  const std::u32string of_others = to_u32(unknown);
  if (code_points.size() != words.size() || of_others.size() != 1) throw py::value_error("expected a symbol per word");
  return std::make_shared<Spelling>(pattern, to_u32(words), std::move(code_points), of_others[0]);
}

std::vector<py::object> spelled(const Spelling& self, const std::vector<py::str>& texts) {
  std::vector<py::object> result;
  std::vector<char32_t> code_points;
  SpelledText text;
  for (const py::str& source : texts) {
    self.spell(view_of_str(source.ptr()), std::numeric_limits<std::size_t>::max(), code_points, text);
    result.push_back(to_str(text.symbols));
  }
  return result;
}

std::vector<py::object> distinct_words(TokenPattern pattern, const std::vector<py::str>& texts) {
  std::vector<py::object> words;
  for (const std::u32string& word : words_of(pattern, to_u32(texts))) words.push_back(to_str(word));
  return words;
}

}  // namespace

void bind_tokens(py::module_& module) {
  py::enum_<TokenPattern>(module, "TokenPattern", "How texts are split into the units of a suite.")
      .value("whitespace", TokenPattern::kWhitespace)
      .value("words", TokenPattern::kWords);
  py::class_<Spelling, std::shared_ptr<Spelling>>(module, "Spelling", "Spells texts with a code point for each word.")
      .def(py::init(&make_spelling), py::arg("pattern"), py::arg("words"), py::arg("symbols"), py::arg("unknown"))
      .def("spelled", &spelled, py::arg("texts"));
  module.def(
      "token_spans", [](TokenPattern pattern, const py::str& text) { return token_spans(pattern, to_u32(text)); },
      py::arg("pattern"), py::arg("text"), "Where the tokens of a text begin and end.");
  module.def("words_of", &distinct_words, py::arg("pattern"), py::arg("texts"),
             "The different words of texts, in the order of their first occurrence.");
  module.def("tokens", &tokens, py::arg("tokenizer"), py::arg("text"),
             "The tokens of a text: the tokenizers are none, char, 13a, intl, zh, rouge and squad.");
  module.def("lower", &lower_case, py::arg("text"), "str.lower() by Unicode 13.0.");
}

}  // namespace pfgen
