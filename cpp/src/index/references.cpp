#include "index/references.hpp"

#include <memory>
#include <string>
#include <utility>

#include "formulas/support.hpp"
#include "pfgen/error.hpp"
#include "text/marks.hpp"

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

SetGroup::SetGroup(NgramIndex index) : index_(std::move(index)) {
  for (std::size_t set = 0; set < kSetsPerIndex; ++set) {
    of_sets_[set] = set < n_sets() ? support_by_frequency(n_answers(set)) : std::vector{0.0};
    if (!index_.is_wide() && of_sets_[set].size() > CompactStates::kMaxLevel + 1) {
      throw IndexFormatError("a compact index with too many answers");
    }
  }
  if (index_.is_wide()) return;
  const auto support = [&](std::size_t set, std::size_t level) {
    return of_sets_[set][std::min(level, of_sets_[set].size() - 1)];
  };
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      of_pairs_[pair].push_back({support(2 * pair, byte & 15), support(2 * pair + 1, byte >> 4)});
    }
  }
}

References::References(std::span<const std::vector<TextView>> sets, Profile profile, const Lengths& lengths)
    : References(sets, profile, lengths, *std::make_unique<SectionBuilder>()) {}

References::References(std::span<const std::vector<TextView>> sets, Profile profile, const Lengths& lengths,
                       SectionBuilder& builder)
    : References(builder.build(decode_sets(sets, profile), profile, lengths), profile) {
  for (std::size_t set = 0; set < n_sets(); ++set) {
    if (!(baseline(set) > 0.0)) throw CompileError("set " + std::to_string(set) + " has baseline 0");
  }
}

// The tables of a SetGroup have as many entries as a set has answers, so they are made after the checksum is verified.
References::References(Section section, Profile profile, std::optional<std::uint64_t> checksum, bool is_own)
    : profile_(profile), section_(std::move(section)) {
  constexpr const char* kDiffers = "its checksum differs";
  if (is_own && pfgen::checksum(section_.bytes) != std::exchange(checksum, {})) throw IndexFormatError(kDiffers);
  std::vector<NgramIndex> indexes;
  RunningChecksum sum;
  double n_answers = 0.0;
  for (std::span<const std::byte> rest = section_.bytes; !rest.empty();) {
    const NgramIndex& index = indexes.emplace_back(rest, checksum ? &sum : nullptr, is_own);
    n_sets_ += index.n_sets();
    for (std::size_t set = 0; set < index.n_sets(); ++set) n_answers += static_cast<double>(index.n_answers(set));
    if (n_answers > static_cast<double>(kMaxAnswers))
      throw IndexFormatError("a question with an impossible number of answers");
    rest = rest.subspan(index.n_bytes());
    if (!rest.empty() && index.n_sets() != kSetsPerIndex) throw IndexFormatError("an index with too few sets");
    if (index.is_wide() != indexes.front().is_wide()) throw IndexFormatError("indexes of two forms");
    if (index.lengths() != indexes.front().lengths()) throw IndexFormatError("indexes of two lengths");
  }
  if (indexes.empty()) throw IndexFormatError("a question without an index");
  if (checksum && sum.with_end() != *checksum) throw IndexFormatError(kDiffers);
  for (NgramIndex& index : indexes) groups_.emplace_back(std::move(index));
}

std::size_t References::n_states() const noexcept {
  std::size_t n_states = 0;
  for (const SetGroup& group : groups_) n_states += group.index().n_states();
  return n_states;
}

}  // namespace pfgen
