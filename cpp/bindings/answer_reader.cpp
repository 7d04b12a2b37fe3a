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
      spelling_(question.spelling),
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
  if (n_regexes_ == 0 || answer.is_null) return read;
  std::vector<char32_t> text;
  SpelledText words;
  if (spelling_ == nullptr) {
    if (decode(answer, look_ahead_, text) == kNoError) search({text.data(), text.size()}, read.positions.data());
  } else if (spelling_->spell(answer, look_ahead_ + 1, text, words) == kNoError) {
    search({text.data(), words.n_read(text.size(), look_ahead_)}, read.positions.data(), &words);
  }
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
  if (n_regexes_ == 0 || answer.is_null) return read;
  NormalisedText in_words(Gaps::kSpaces);
  SpelledText words;
  const NormalisedText& text = spelling_ == nullptr ? memory : in_words;
  const std::size_t invalid = spelling_ == nullptr ? memory.read(answer, look_ahead_)
                                                   : spelling_->spell(answer, look_ahead_ + 1, in_words, words);
  if (invalid != kNoError) return read;
  const std::size_t n_read = spelling_ == nullptr ? look_ahead_ : words.n_read(text.units().size(), look_ahead_);
  for (std::size_t i = 0; i < kTextForms; ++i) {
    if (!text.has_form(i)) continue;
    std::uint32_t* const positions = read.positions.data() + i * n_regexes_;
    const TokenPositions in_tokens(text.form(i), words);
    search(text.form(i).cut(n_read), positions,
           spelling_ == nullptr ? &text.form(i) : static_cast<const Positions*>(&in_tokens));
  }
  return read;
}

void AnswerReader::search(std::u32string_view text, std::uint32_t* positions, const Positions* in_units) const {
  const py::object value = to_str(text);
  for (const py::object& searcher : searchers_) {
    const auto end = call_python(searcher, value).cast<std::optional<std::uint32_t>>();
    *positions++ = !end ? kNotFound : in_units == nullptr ? *end : in_units->position(*end);
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
