#include "pfgen/references.hpp"

#include <algorithm>
#include <string>

#include "pfgen/error.hpp"
#include "pfgen/scorers.hpp"

namespace pfgen {
namespace {

std::vector<AnswerSet> decode_sets(std::span<const std::vector<TextView>> sets, Profile profile) {
  std::vector<AnswerSet> decoded;
  for (const auto& set : sets) {
    if (set.empty()) throw CompileError("set " + std::to_string(decoded.size()) + " has no answers");
    AnswerSet& answers = decoded.emplace_back(set.size());
    for (std::size_t i = 0; i < set.size(); ++i) {
      const std::size_t invalid = decode(set[i], kNoError, answers[i]);
      if (invalid != kNoError) throw CompileError("a reference answer is invalid UTF-8");
      if (profile == Profile::kPaper) {
        answers[i].insert(answers[i].begin(), kBeginMark);
        answers[i].push_back(kEndMark);
      }
    }
  }
  return decoded;
}

std::vector<double> support_below_one(double n_answers) {
  std::vector<double> terms;
  for (std::uint32_t frequency = 0;; ++frequency) {
    const double term = frequency / n_answers * 200.0;
    if (term >= 1.0) return terms;
    terms.push_back(term);
  }
}

}  // namespace

References::References(std::span<const std::vector<TextView>> sets, Profile profile)
    : References(decode_sets(sets, profile), profile) {}

References::References(std::span<const AnswerSet> sets, Profile profile) : profile_(profile), index_(sets) {
  for (const AnswerSet& set : sets) {
    const auto n_answers = static_cast<double>(set.size());
    sets_.push_back({n_answers, 1.0, support_below_one(n_answers)});
  }
  measure_baselines(sets);
}

void References::measure_baselines(std::span<const AnswerSet> sets) {
  const std::size_t n_marks = profile_ == Profile::kPaper ? 1 : 0;
  Workspace work;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    double total = 0.0;
    for (std::size_t first = 0; first < sets[set].size(); first += kLanes) {
      const std::size_t n_lanes = std::min(kLanes, sets[set].size() - first);
      const std::span<Lane> lanes = std::span(work.lanes).first(n_lanes);
      for (std::size_t l = 0; l < n_lanes; ++l) {
        const std::vector<char32_t>& answer = sets[set][first + l];
        const auto begin = answer.begin() + static_cast<std::ptrdiff_t>(n_marks);
        const std::size_t n = std::min(answer.size() - 2 * n_marks, look_ahead(profile_));
        lanes[l].code_points.assign(begin, begin + static_cast<std::ptrdiff_t>(n));
      }
      walk(*this, lanes);
      for (Lane& lane : lanes) total += raw_fluency(*this, set, lane, work);
    }
    sets_[set].baseline = total / n_answers(set);
    if (!(sets_[set].baseline > 0.0)) throw CompileError("set " + std::to_string(set) + " has baseline 0");
  }
}

}  // namespace pfgen
