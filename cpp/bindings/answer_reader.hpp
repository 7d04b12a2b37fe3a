// The part of reading an answer that needs Python: positions of patterns with regex syntax, and texts in tokens.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pfgen/batch_scorer.hpp"
#include "pfgen/normalised_text.hpp"
#include "question.hpp"
#include "text_column.hpp"

namespace pfgen {

// An answer as the core takes it; keeps the memory of `text` alive.
struct ReadAnswer {
  TextView text;
  std::vector<std::uint32_t> positions;  // of all patterns; in profile normalised, in one form of the answer after the
                                         // other
  pybind11::object spelled;
};

// Calls the functions of one question.
class AnswerReader {
 public:
  explicit AnswerReader(const QuestionSource& question);

  // Whether the core alone cannot read the answers.
  bool is_needed() const { return is_needed_; }

  // In invalid UTF-8 nothing is found; the scorer names the row. `memory` is used again for every answer.
  ReadAnswer read(const TextView& answer, NormalisedText& memory) const;

 private:
  ReadAnswer read_tokens(const TextView& answer) const;
  void search(std::u32string_view text, std::span<std::uint32_t> ends) const;

  std::vector<pybind11::object> searchers_;
  pybind11::object token_reader_;
  Question question_;
  bool is_needed_;  // rules are elsewhere in memory, and most questions need none
};

// The answers of a batch, ready for the core, with the objects that they borrow from.
class ReadAnswers {
 public:
  // `codes` has the question of each text; `texts` stay borrowed.
  ReadAnswers(std::span<const AnswerReader> readers, std::span<const std::int32_t> codes, const TextColumn& texts);

  std::span<const Answer> answers() const noexcept { return answers_; }

 private:
  std::vector<Answer> answers_;
  std::vector<ReadAnswer> read_;  // whose vectors stay where they are when it grows
};

}  // namespace pfgen
