// Fluency and truthfulness of single sets: random cases against the rules as written (makers/rules.hpp). Seeds are
// fixed; doubles are compared with ==.
#include <span>
#include <vector>

#include "makers/check.hpp"
#include "makers/rules.hpp"
#include "makers/scored_answers.hpp"
#include "pfgen/error.hpp"
#include "pfgen/question_index.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

void references_without_a_baseline_are_refused() {
  CHECK_THROWS(CompileError, References(views({{U"あ"}, {}}), Profile::kLeaderboard));
  CHECK_THROWS(CompileError, References(views({{U"", U""}}), Profile::kLeaderboard));
  CHECK_THROWS(CompileError, References(views({{Text(150, U'あ')}}), Profile::kPaper));
  CHECK(References(views({{Text(150, U'あ')}}), Profile::kLeaderboard).baseline(0) > 0.0);
  const std::vector<unsigned char> invalid{'a', 0xFF};
  CHECK_THROWS(CompileError, References(ReferenceSets{{view(invalid)}}, Profile::kLeaderboard));
}

void scores_of_sets_follow_the_rules() {
  Random random(4);
  Workspace work;  // one for all, so that nothing of an earlier answer may shine through
  for (std::size_t round = 0; round < 6; ++round) {
    // More than four sets take more than one index.
    Sets sets = random_sets(random, round % 3 == 2 ? 5 : 1 + random.below(4), round % 4 == 1);
    const bool is_wide = round >= 4;
    if (is_wide) sets[0].push_back(code_points_from(0x10000, CompactStates::kMaxSymbol + 1));
    for (const Profile profile : {Profile::kLeaderboard, Profile::kPaper}) {
      const References references(views(sets), profile);
      CHECK(references.groups()[0].index().is_wide() == is_wide);
      const Rules rules(sets, profile);
      for (std::size_t s = 0; s < sets.size(); ++s) CHECK(references.baseline(s) == rules.baseline(s));
      for (int i = 0; i < 8; ++i) {
        std::vector<Text> texts(random.one_in(2) ? random.between(1, kFewAnswers) : random.between(1, 3 * kLanes));
        for (Text& text : texts) text = random_answer(random, sets[0], random.pick(kLengths));
        ScoredAnswers answers(references, texts);
        score_sets(references, texts.size(), answers, work);
        for (std::size_t row = 0; row < texts.size(); ++row) {
          for (std::size_t s = 0; s < sets.size(); ++s) {
            CHECK(answers.scores()[row][s].fluency == rules.fluency(s, texts[row]));
            CHECK(answers.scores()[row][s].truthfulness == rules.truthfulness(s, texts[row]));
          }
        }
      }
    }
  }
}

}  // namespace

int main() {
  references_without_a_baseline_are_refused();
  scores_of_sets_follow_the_rules();
  return report("set_scores_test");
}
