// Questions and reference answers as Python passes them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "pfgen/batch_scorer.hpp"
#include "text_column.hpp"

namespace pfgen {

struct QuestionSource {
  std::shared_ptr<QuestionIndex> index;
  std::shared_ptr<KeywordRules> rules;
  std::vector<std::size_t> set_columns;
  // One function per regex, from text to position. If the units are tokens, there is instead a token reader (otherwise
  // None), from (text, look-ahead) to (spelled text, positions); in profile normalised, the positions are those in the
  // forms of the text.
  std::vector<pybind11::object> searchers;
  pybind11::object token_reader;
  Lengths lengths;
  std::shared_ptr<Spelling> spelling;  // if the units are words, which need no token reader; null otherwise

  Question taken() const { return {index, rules, set_columns, !token_reader.is_none(), lengths, spelling}; }
};

// The reference answers of many questions, borrowed.
class BorrowedSets {
 public:
  // `questions[q][s]` is the sequence of answers of set s of question q.
  explicit BorrowedSets(const std::vector<std::vector<pybind11::object>>& questions) : views_(questions.size()) {
    for (std::size_t q = 0; q < questions.size(); ++q) {
      for (const pybind11::object& answers : questions[q]) {
        const TextColumn& column = columns_.emplace_back(answers, "answers", false);
        views_[q].emplace_back(column.texts().begin(), column.texts().end());
      }
    }
  }

  std::span<const ReferenceSets> views() const noexcept { return views_; }

 private:
  std::vector<TextColumn> columns_;
  std::vector<ReferenceSets> views_;
};

}  // namespace pfgen
