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
      is_normalised_(question.index->profile() == Profile::kNormalised) {
  if (searchers_.size() != (token_reader_.is_none() ? n_regexes_ : 0)) {
    throw py::value_error("expected one function for each regex");
  }
}

ReadAnswer AnswerReader::read(const TextView& answer, std::span<const std::size_t> look_aheads,
                              NormalisedText& memory) const {
  if (!token_reader_.is_none() && !answer.is_null) return read_tokens(answer, look_aheads);
  if (is_normalised_) return read_normalised(answer, look_aheads.front(), memory);
  ReadAnswer read{answer, std::vector<std::uint32_t>(look_aheads.size() * n_regexes_, kNotFound), {}};
  if (n_regexes_ == 0 || answer.is_null) return read;
  std::vector<char32_t> text;
  std::uint32_t* positions = read.positions.data();
  std::size_t n_before = kNoError;
  for (const std::size_t look_ahead : look_aheads) {
    if (decode(answer, look_ahead, text) != kNoError) return read;
    if (text.size() == n_before) {  // nothing more was cut off: the positions are the same as before
      std::copy_n(positions - n_regexes_, n_regexes_, positions);
    } else {
      search({text.data(), text.size()}, positions);
    }
    n_before = text.size();
    positions += n_regexes_;
  }
  return read;
}

ReadAnswer AnswerReader::read_tokens(const TextView& answer, std::span<const std::size_t> look_aheads) const {
  const std::size_t n_positions = (is_normalised_ ? kTextForms : look_aheads.size()) * n_regexes_;
  const py::object text = to_str(answer);
  // The text may be valid when the core reads it, because another thread may change it.
  if (!text) return {answer, std::vector<std::uint32_t>(n_positions, kNotFound), {}};
  const py::object limits = py::cast(std::vector<std::size_t>(look_aheads.begin(), look_aheads.end()));
  auto [spelled, positions] =
      call_python(token_reader_, text, limits).cast<std::pair<py::str, std::vector<std::uint32_t>>>();
  if (positions.size() != n_positions) {
    throw py::value_error("expected one position for each pattern and look-ahead or form");
  }
  const TextView view = view_of_str(spelled.ptr());
  return {view, std::move(positions), std::move(spelled)};
}

ReadAnswer AnswerReader::read_normalised(const TextView& answer, std::size_t look_ahead, NormalisedText& memory) const {
  ReadAnswer read{answer, std::vector<std::uint32_t>(kTextForms * n_regexes_, kNotFound), {}};
  if (n_regexes_ == 0 || answer.is_null || memory.read(answer, look_ahead) != kNoError) return read;
  for (std::size_t i = 0; i < kTextForms; ++i) {
    if (!memory.has_form(i)) continue;
    search(memory.form(i).cut(look_ahead), read.positions.data() + i * n_regexes_, &memory.form(i));
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
                         const TextColumn& texts, std::span<const std::size_t> look_aheads)
    : answers_(texts.size()) {
  NormalisedText memory;
  for (std::size_t row = 0; row < answers_.size(); ++row) {
    const auto question = static_cast<std::uint32_t>(codes[row]);
    answers_[row] = {texts[row], question, nullptr};
    if (!readers[question].is_needed()) continue;
    const ReadAnswer& answer = read_.emplace_back(readers[question].read(texts[row], look_aheads, memory));
    answers_[row] = {answer.text, question, answer.positions.data()};
  }
}

}  // namespace pfgen
