// Answers to one question, taken one after the other, and the answers in progress.
#pragma once

#include <cstddef>
#include <vector>

#include "formulas/averaging.hpp"

namespace pfgen {

// The number of answers that are walked at once: while one answer waits for memory, the others continue.
inline constexpr std::size_t kLanes = 32;

// An answer in progress, as its source sees it. Lanes are reused.
struct AnswerLane {
  std::size_t number = 0;             // of the lane, below kLanes
  std::vector<char32_t> code_points;  // the part that the profile reads
  std::vector<SetScore> sets;         // of the sets that are scored so far
};

class AnswerSource {
 public:
  virtual ~AnswerSource() = default;
  // Fills the code points of a lane with the next answer, up to the length that the profile reads. Returns false if
  // there is no more answer.
  virtual bool next(AnswerLane& lane) = 0;
  // Takes the answer that the lane holds, with the scores of all sets. Answers are done in any order.
  virtual void done(const AnswerLane& lane) = 0;
};

}  // namespace pfgen
