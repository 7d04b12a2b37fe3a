// Helpfulness (docs/scoring.md, sections 4, 7 and 10), from the positions at which the keyword rules are met.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "formulas/lengths.hpp"
#include "pfgen/keywords.hpp"
#include "pfgen/normalised_text.hpp"
#include "pfgen/spelling.hpp"

namespace pfgen {

struct Helpfulness {
  double score;
  std::size_t truncation;  // where the answer is cut to reach it
};

// The largest truncation with the highest of the scores, which belong to the truncations from `first` on.
inline Helpfulness best_prefix_helpfulness(std::span<const double> scores, std::size_t first) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] >= scores[best]) best = i;
  }
  return {scores[best], first + best};
}

// Up to the target length, a longer truncation meets more rules at no loss. So the search begins at the target length.
// `scores` is working memory.
template <class Lengths>
Helpfulness leaderboard_helpfulness(const Lengths& lengths, std::span<const double> importances,
                                    std::span<const RulePosition> rules, std::size_t n_code_points,
                                    std::vector<double>& scores) {
  const std::size_t last = std::min(n_code_points, lengths.limit);
  const std::size_t first = std::min(last, lengths.target);
  scores.resize(last + 1 - first);
  double* score = scores.data();
  for (std::size_t i = first; i <= last; ++i) score[i - first] = lengths.discount(i);
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    const double factor = 1.0 - importances[rule];
    const std::size_t unmet = std::min<std::size_t>(last + 1, rules[rule].position);
    for (std::size_t i = first; i < unmet; ++i) score[i - first] *= factor;
  }
  return best_prefix_helpfulness(scores, first);
}

// The share of the importances whose rules are met at a truncation; 1 without rules.
inline double met_share(std::span<const double> importances, std::span<const RulePosition> rules,
                        std::size_t truncation) {
  double met = 0.0;
  double whole = 0.0;
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    whole += importances[rule];
    if (rules[rule].position <= truncation) met += importances[rule];
  }
  return whole > 0.0 ? met / whole : 1.0;
}

template <class Lengths>
Helpfulness paper_helpfulness(const Lengths& lengths, std::span<const double> importances,
                              std::span<const RulePosition> rules, std::size_t n_code_points,
                              std::vector<double>& scores) {
  const std::size_t first = std::min(n_code_points, lengths.target);
  scores.clear();
  for (std::size_t i = first; i <= std::min(n_code_points, lengths.limit); ++i) {
    scores.push_back(lengths.discount(i) * met_share(importances, rules, i));
  }
  const Helpfulness best = best_prefix_helpfulness(scores, first);
  // Past the limit all truncations score 0: if nothing is better, the whole answer is the largest.
  return best.score > 0.0 ? best : Helpfulness{0.0, n_code_points};
}

// What keyword rules search, and the positions of matches in it; by default those of their ends.
struct SearchedText {
  std::u32string_view text;
  const Positions* positions = nullptr;
};

// Scores the helpfulness of answers. Its memory is used again for every answer; for one thread.
class HelpfulnessScorer {
 public:
  // The profile reads `n` units, and there is one position for each regex of the rules.
  Helpfulness score(Profile profile, const Lengths& lengths, const KeywordRules& rules, std::size_t n,
                    const SearchedText& searched, std::span<const std::uint32_t> regex_positions) {
    const bool is_paper = profile == Profile::kPaper;
    rules.locate(searched.text, regex_positions, rule_positions_, searched.positions);
    return with_lengths(lengths, [&](const auto& typed) {
      return is_paper ? paper_helpfulness(typed, rules.importances(), rule_positions_, n, truncations_)
                      : leaderboard_helpfulness(typed, rules.importances(), rule_positions_, n, truncations_);
    });
  }

  // Profile normalised: the best of the forms of an answer of which `n` units are read, and of equal ones the first.
  // There is one position for each regex of the rules in the first form, then one for each in the next. `answer` is a
  // null pointer where the caller spells tokens, because then all patterns are searched as regexes; `spelled` is one
  // unless the units are words.
  Helpfulness score(const Lengths& lengths, const KeywordRules& rules, std::size_t n, const NormalisedText* answer,
                    const SpelledText* spelled, std::span<const std::uint32_t> regex_positions) {
    const std::size_t n_searched =
        spelled == nullptr ? lengths.look_ahead() : spelled->n_read(answer->units().size(), lengths.look_ahead());
    Helpfulness best{-1.0, 0};
    for (std::size_t i = 0; i < kTextForms && best.score < 1.0; ++i) {
      if (answer != nullptr && !answer->has_form(i)) continue;
      const auto positions_of_regexes = regex_positions.subspan(i * rules.n_regexes(), rules.n_regexes());
      const auto locate = [&](std::u32string_view text, const Positions* positions) {
        rules.locate(text, positions_of_regexes, of_form_, positions);
      };
      if (answer == nullptr) {
        locate({}, nullptr);
      } else if (const TextForm& form = answer->form(i); spelled == nullptr) {
        locate(form.cut(n_searched), &form);
      } else {
        const TokenPositions positions(form, *spelled);
        locate(form.cut(n_searched), &positions);
      }
      const Helpfulness helpfulness = with_lengths(lengths, [&](const auto& typed) {
        return leaderboard_helpfulness(typed, rules.importances(), of_form_, n, truncations_);
      });
      if (helpfulness.score <= best.score) continue;
      best = helpfulness;
      std::swap(rule_positions_, of_form_);
    }
    return best;
  }

  // The positions at which the latest answer meets the rules.
  const std::vector<RulePosition>& rule_positions() const noexcept { return rule_positions_; }

 private:
  std::vector<RulePosition> rule_positions_;
  std::vector<RulePosition> of_form_;
  std::vector<double> truncations_;
};

}  // namespace pfgen
