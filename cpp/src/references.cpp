#include "pfgen/references.hpp"

#include <string>
#include <type_traits>
#include <utility>

#include "pfgen/error.hpp"
#include "pfgen/weights.hpp"

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

}  // namespace

References::References(std::span<const std::vector<TextView>> sets, Profile profile)
    : References(build_section(decode_sets(sets, profile), profile), profile) {
  for (std::size_t set = 0; set < n_sets(); ++set) {
    if (!(baseline(set) > 0.0)) throw CompileError("set " + std::to_string(set) + " has baseline 0");
  }
}

References::References(Section section, Profile profile) : profile_(profile), index_(std::move(section)) {
  const bool is_compact = index_.with_states([]<class States>(const States&) {
    return std::is_same_v<States, CompactStates>;
  });
  for (std::size_t set = 0; set < n_sets(); ++set) {
    const std::vector<double> support = support_by_frequency(n_answers(set));
    begin_.push_back(support_.size());
    support_.insert(support_.end(), support.begin(), support.end());
    if (!is_compact) continue;
    if (support.size() > kCompactLevels) throw IndexFormatError("a compact section with too many answers");
    support_.resize((set + 1) * kCompactLevels, 1.0);
  }
  begin_.push_back(support_.size());
  // A compact state counts for sets that the question does not have, too.
  if (is_compact) support_.resize(CompactStates::kMaxSets * kCompactLevels);
}

}  // namespace pfgen
