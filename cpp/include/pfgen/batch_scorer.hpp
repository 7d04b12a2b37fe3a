// Scores many answers to many questions with several threads.
//
// Each answer is scored separately, so the number of threads, and the order and size of batches, cannot change results.
// The caller's columns are written in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "pfgen/constants.hpp"
#include "pfgen/keywords.hpp"
#include "pfgen/normalised_text.hpp"
#include "pfgen/question_index.hpp"
#include "pfgen/spelling.hpp"
#include "pfgen/sums.hpp"
#include "pfgen/text.hpp"

namespace pfgen {

// Everything needed to score answers to one question.
struct Question {
  std::shared_ptr<const QuestionIndex> index;
  std::shared_ptr<const KeywordRules> rules;
  std::vector<std::size_t> set_columns;        // column of each of its sets in the per-set results; one for each set
  bool is_spelled = false;                     // whether its units are tokens, in which the caller spells texts
  Lengths lengths{};                           // those of its index
  std::shared_ptr<const Spelling> spelling{};  // if its units are words, which the core spells

  // How many code points of an answer keyword rules read, in profile normalised units. Regexes are searched in the cut
  // answer.
  std::size_t look_ahead() const noexcept { return look_ahead_of(index->profile(), lengths); }
};

// One answer of a batch; `question` is a number among the scorer's questions. `regex_positions` points to one position
// for each regex of the question's rules; in profile normalised, to one for each in the first form of the answer, then
// one for each in the next, all in units.
struct Answer {
  TextView text;
  std::uint32_t question;
  const std::uint32_t* regex_positions;
};

// Writes for each pattern with regex syntax of a question's rules the end of its first match in a text, or kNotFound.
using PatternSearch = std::function<void(std::u32string_view text, std::span<std::uint32_t> ends)>;

// The `regex_positions` of an answer. In invalid UTF-8 nothing is found; the scorer names the row. `memory` is used
// again for every answer.
std::vector<std::uint32_t> regex_positions(const Question& question, const TextView& answer, NormalisedText& memory,
                                           const PatternSearch& search);

// Section 5 of docs/scoring.md. `fluency` and `truthfulness` are the sums over the sets. Null rows hold NaN.
struct ScoreColumns {
  double* fluency;
  double* truthfulness;
  double* helpfulness;
  double* average;
  // Per-set columns: element `column * n_rows + row`, unchanged where a question lacks the set. May be null pointers.
  double* set_fluency;
  double* set_truthfulness;
};

// Positions of the rules and the truncation that an answer's helpfulness comes from.
struct HelpfulnessDetails {
  std::size_t truncation;
  double score;
  std::vector<RulePosition> rules;
};

class BatchScorer {
 public:
  // All questions have the same profile. Throws CompileError without questions.
  BatchScorer(std::vector<Question> questions, FloatSum float_sum);

  const std::vector<Question>& questions() const noexcept { return questions_; }
  Profile profile() const noexcept { return questions_.front().index->profile(); }

  // The calling thread calls `on_pause` every few milliseconds; an exception from it ends the work of all threads.
  // Throws InvalidAnswer for the lowest row that is invalid UTF-8; the columns are then unusable. Throws
  // IndexFormatError if an index is damaged or of another suite. `n_threads` is at least 1; small batches use fewer.
  void score(std::span<const Answer> answers, std::size_t n_threads, const ScoreColumns& columns,
             const std::function<void()>& on_pause = {}) const;

  // Computes the columns of fluency, truthfulness and average again, with the float sum of this scorer. Reads the
  // columns of the sets and the helpfulness. All columns are given, and each question is one of the scorer's.
  void add_up(std::span<const std::int32_t> questions, const ScoreColumns& columns) const;

  HelpfulnessDetails details(const Answer& answer) const;

 private:
  class Block;

  std::vector<Question> questions_;
  FloatSum float_sum_;
};

}  // namespace pfgen
