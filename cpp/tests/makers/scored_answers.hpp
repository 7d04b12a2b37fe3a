// Collects the scores of score_sets(), and compares them with the rules.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "makers/check.hpp"
#include "makers/rules.hpp"
#include "scoring/set_scores.hpp"

namespace pfgen::test {

class ScoredAnswers : public AnswerSource {
 public:
  ScoredAnswers(const References& references, std::span<const Text> texts)
      : profile_(references.profile()), lengths_(references.lengths()), texts_(texts), scores_(texts.size()) {}

  const std::vector<std::vector<SetScore>>& scores() const { return scores_; }

  bool next(AnswerLane& lane) override {
    if (n_taken_ == texts_.size()) return false;
    CHECK(decode(view(texts_[n_taken_]), look_ahead_of(profile_, lengths_) + 1, lane.code_points) == kNoError);
    in_lane_.at(lane.number) = n_taken_++;
    return true;
  }
  void done(const AnswerLane& lane) override { scores_[in_lane_.at(lane.number)] = lane.sets; }

 private:
  Profile profile_;
  Lengths lengths_;
  std::span<const Text> texts_;
  std::vector<std::vector<SetScore>> scores_;
  std::array<std::size_t, kLanes> in_lane_{};
  std::size_t n_taken_ = 0;
};

// Whether texts have the scores of the rules, to the last bit.
inline bool scores_follow(const References& references, const Rules& rules, std::span<const Text> texts) {
  static Workspaces work;  // one for all: an earlier answer must not change a later one
  ScoredAnswers answers(references, texts);
  score_sets(references, texts.size(), answers, work);
  for (std::size_t row = 0; row < texts.size(); ++row) {
    for (std::size_t s = 0; s < references.n_sets(); ++s) {
      const SetScore& score = answers.scores()[row][s];
      if (score.fluency != rules.fluency(s, texts[row])) return false;
      if (score.truthfulness != rules.truthfulness(s, texts[row])) return false;
    }
  }
  return true;
}

inline bool baselines_follow(const References& references, const Rules& rules) {
  for (std::size_t s = 0; s < references.n_sets(); ++s) {
    if (references.baseline(s) != rules.baseline(s)) return false;
  }
  return true;
}

}  // namespace pfgen::test
