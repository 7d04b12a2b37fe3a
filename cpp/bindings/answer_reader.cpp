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
      question_(question.taken()),
      is_needed_(question_.rules->n_regexes() > 0 || !token_reader_.is_none()) {
  if (searchers_.size() != (token_reader_.is_none() ? question_.rules->n_regexes() : 0)) {
    throw py::value_error("expected one function for each regex");
  }
}

ReadAnswer AnswerReader::read(const TextView& answer, NormalisedText& memory) const {
  if (!token_reader_.is_none() && !answer.is_null) return read_tokens(answer);
  const auto search = [this](std::u32string_view text, std::span<std::uint32_t> ends) { this->search(text, ends); };
  return {answer, regex_positions(question_, answer, memory, search), {}};
}

ReadAnswer AnswerReader::read_tokens(const TextView& answer) const {
  const bool is_normalised = question_.index->profile() == Profile::kNormalised;
  const std::size_t n_positions = (is_normalised ? kTextForms : 1) * question_.rules->n_regexes();
  const py::object text = to_str(answer);
  // The text may be valid when the core reads it, because another thread may change it.
  if (!text) return {answer, std::vector<std::uint32_t>(n_positions, kNotFound), {}};
  auto [spelled, positions] = call_python(token_reader_, text, py::int_(question_.look_ahead()))
                                  .cast<std::pair<py::str, std::vector<std::uint32_t>>>();
  if (positions.size() != n_positions) {
    throw py::value_error("expected one position for each pattern and form");
  }
  const TextView view = view_of_str(spelled.ptr());
  return {view, std::move(positions), std::move(spelled)};
}

void AnswerReader::search(std::u32string_view text, std::span<std::uint32_t> ends) const {
  const py::object value = to_str(text);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ends[i] = call_python(searchers_[i], value).cast<std::optional<std::uint32_t>>().value_or(kNotFound);
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
