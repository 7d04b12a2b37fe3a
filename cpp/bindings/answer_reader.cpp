#include "answer_reader.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "gil.hpp"
#include "pfgen/keywords.hpp"

namespace py = pybind11;

namespace pfgen {

AnswerReader::AnswerReader(const QuestionSource& question)
    : searchers_(question.searchers),
      token_reader_(question.token_reader),
      n_regexes_(question.rules->n_regexes()),
      is_normalised_(question.index->profile() == Profile::kNormalised),
      look_ahead_(look_ahead_of(question.index->profile(), question.lengths)) {
  if (searchers_.size() != (token_reader_.is_none() ? n_regexes_ : 0)) {
    throw py::value_error("expected one function for each regex");
  }
}

ReadAnswer AnswerReader::read(const TextView& answer, NormalisedText& memory) const {
  if (!token_reader_.is_none() && !answer.is_null) return read_tokens(answer);
  if (is_normalised_) return read_normalised(answer, memory);
  ReadAnswer read{answer, std::vector<std::uint32_t>(n_regexes_, kNotFound), {}};
  std::vector<char32_t> text;
  if (n_regexes_ == 0 || answer.is_null || decode(answer, look_ahead_, text) != kNoError) return read;
  search({text.data(), text.size()}, read.positions.data());
  return read;
}

ReadAnswer AnswerReader::read_tokens(const TextView& answer) const {
  const std::size_t n_positions = (is_normalised_ ? kTextForms : 1) * n_regexes_;
  const py::object text = to_str(answer);
  // The text may be valid when the core reads it, because another thread may change it.
  if (!text) return {answer, std::vector<std::uint32_t>(n_positions, kNotFound), {}};
  auto [spelled, positions] =
      call_python(token_reader_, text, py::int_(look_ahead_)).cast<std::pair<py::str, std::vector<std::uint32_t>>>();
  if (positions.size() != n_positions) {
    throw py::value_error("expected one position for each pattern and form");
  }
  const TextView view = view_of_str(spelled.ptr());
  return {view, std::move(positions), std::move(spelled)};
}

ReadAnswer AnswerReader::read_normalised(const TextView& answer, NormalisedText& memory) const {
  ReadAnswer read{answer, std::vector<std::uint32_t>(kTextForms * n_regexes_, kNotFound), {}};
  if (n_regexes_ == 0 || answer.is_null || memory.read(answer, look_ahead_) != kNoError) return read;
  for (std::size_t i = 0; i < kTextForms; ++i) {
    if (!memory.has_form(i)) continue;
    search(memory.form(i).cut(look_ahead_), read.positions.data() + i * n_regexes_, &memory.form(i));
  }
  return read;
}

void AnswerReader::search(std::u32string_view text, std::uint32_t* positions, const TextForm* form) const {
  const py::object value = to_str(text);
  for (const py::object& searcher : searchers_) {
    const auto end = call_python(searcher, value).cast<std::optional<std::uint32_t>>();
    *positions++ = !end ? kNotFound : form == nullptr ? *end : form->position(*end);
  }
}

ReadAnswers::ReadAnswers(std::span<const AnswerReader> readers, std::span<const std::int32_t> codes,
                         const TextColumn& texts)
    : answers_(texts.size()) {
  NormalisedText memory;
  for (std::size_t row = 0; row < answers_.size(); ++row) {
    const auto question = static_cast<std::uint32_t>(codes[row]);
    answers_[row] = {texts[row], question, nullptr};
    if (!readers[question].is_needed()) continue;
    const ReadAnswer& answer = read_.emplace_back(readers[question].read(texts[row], memory));
    answers_[row] = {answer.text, question, answer.positions.data()};
  }
}

}  // namespace pfgen
