// Fluency and truthfulness of many answers to one question, in all its sets.
#pragma once

#include <cstddef>

#include "index/references.hpp"
#include "scoring/compact_scorer.hpp"
#include "scoring/lanes.hpp"
#include "scoring/walker.hpp"
#include "scoring/wide_scorer.hpp"

namespace pfgen {

// Memory that one thread uses again for every answer that it scores.
struct Workspaces {
  Walker<CompactScorer>::Work compact;
  Walker<WideScorer>::Work wide;
};

// Scores all answers of the source, several side by side; about `n_answers`, a hint for speed.
inline void score_sets(const References& references, std::size_t n_answers, AnswerSource& source, Workspaces& work) {
  if (references.groups().front().index().is_wide()) {
    Walker<WideScorer>(references, source, work.wide).run(n_answers);
  } else {
    Walker<CompactScorer>(references, source, work.compact).run(n_answers);
  }
}

}  // namespace pfgen
