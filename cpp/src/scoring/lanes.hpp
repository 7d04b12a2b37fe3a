// Answers to one question, taken one after the other, and the answers in progress: lanes, which are used again.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "formulas/averaging.hpp"
#include "index/states.hpp"

namespace pfgen {

// The number of answers that are walked at once: while one answer waits for memory, the others continue.
inline constexpr std::size_t kLanes = 32;

// An answer in progress, as its source sees it.
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

// An answer in progress, as walks share it: cut into parts of equal length.
struct LaneParts : AnswerLane {
  static constexpr std::size_t kMostParts = 96;
  // Room for what the walk over a part finds behind the part, until the next walk finds the same. Parts are at least as
  // long as the longest n-gram, so no n-gram reaches over two borders.
  static constexpr std::size_t kPast = kMaxOrder + 2;

  std::size_t n = 0;      // symbols
  std::size_t n_own = 0;  // symbols of a part
  std::size_t n_parts = 0, n_begun = 0, n_ended = 0;
  std::array<std::uint8_t, kMostParts> n_past;

  // Into at most so many parts.
  void cut(std::size_t most) noexcept {
    n_own = std::max<std::size_t>(kMaxOrder, (n + most - 1) / most);
    n_parts = (n + n_own - 1) / n_own;
    n_begun = n_ended = 0;
  }
};

}  // namespace pfgen
