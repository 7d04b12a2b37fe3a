// Fluency and truthfulness of many answers to one question, in all its sets.
#pragma once

#include <cstddef>

#include "index/references.hpp"
#include "scoring/workspace.hpp"

namespace pfgen {

// So few answers are walked one after the other, each in several parts side by side.
inline constexpr std::size_t kFewAnswers = 4;

// Answers to one question, taken one after the other.
class AnswerSource {
 public:
  virtual ~AnswerSource() = default;
  // Fills the code points of a lane with the next answer, up to the length that the profile reads. Returns false if
  // there is no more answer.
  virtual bool next(AnswerLane& lane) = 0;
  // Takes the answer that the lane holds, with the scores of all sets. Answers are done in any order.
  virtual void done(const AnswerLane& lane) = 0;
};

// Scores all answers of the source, several side by side; about `n_answers`, a hint for speed.
void score_sets(const References& references, std::size_t n_answers, AnswerSource& source, Workspaces& work);

}  // namespace pfgen
