// The reference sets of one question for one profile: their n-gram index, sizes and baselines. Immutable and
// thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "index/ngram_index.hpp"
#include "index/section_builder.hpp"
#include "pfgen/constants.hpp"
#include "pfgen/section.hpp"
#include "pfgen/text.hpp"

namespace pfgen {

// Up to four reference sets, which share an index, and how much each frequency counts in truthfulness.
class SetGroup {
 public:
  // Throws IndexFormatError if the sets of a compact index have more levels than its form can hold.
  explicit SetGroup(NgramIndex index);

  const NgramIndex& index() const noexcept { return index_; }
  std::size_t n_sets() const noexcept { return index_.n_sets(); }
  double n_answers(std::size_t set) const noexcept { return static_cast<double>(index_.n_answers(set)); }
  double baseline(std::size_t set) const noexcept { return index_.baseline(set); }

  // How much a character counts in truthfulness, by the levels of its most frequent 3-grams: in two sets of a compact
  // index, by the byte with the levels of both.
  const std::array<double, 2>* support_of_pair(std::size_t pair) const noexcept { return of_pairs_[pair].data(); }
  // Adds it to each set of a wide index.
  void add_support(const WideStates::Levels& levels, PerSet<double>& totals) const noexcept {
    for (std::size_t set = 0; set < kSetsPerIndex; ++set) {
      totals[set] += of_sets_[set][std::min<std::size_t>(levels[set], of_sets_[set].size() - 1)];
    }
  }

 private:
  static constexpr std::size_t kPairs = kSetsPerIndex / 2;

  NgramIndex index_;
  PerSet<std::vector<double>> of_sets_;  // the support of each level
  // The support of two sets, by the byte with the levels of both sets; empty for a wide index.
  std::array<std::vector<std::array<double, 2>>, kPairs> of_pairs_;
};

class References {
 public:
  // `sets[s]` are the answers of set s. Throws CompileError if a set is empty, holds invalid UTF-8, or has
  // baseline 0, or if the lengths are invalid.
  References(std::span<const std::vector<TextView>> sets, Profile profile, const Lengths& lengths = {});
  // As above, with a builder that can be reused for other questions.
  References(std::span<const std::vector<TextView>> sets, Profile profile, const Lengths& lengths,
             SectionBuilder& builder);
  // Opens the bytes of another `section()`. Throws IndexFormatError as NgramIndex does, or if the checksum differs.
  // With `is_own`, a section with the right checksum is not checked further.
  References(Section section, Profile profile, std::optional<std::uint64_t> checksum = {}, bool is_own = false);

  Profile profile() const noexcept { return profile_; }
  const Section& section() const noexcept { return section_; }
  std::span<const SetGroup> groups() const noexcept { return groups_; }
  const Lengths& lengths() const noexcept { return groups_.front().index().lengths(); }
  std::size_t n_sets() const noexcept { return n_sets_; }
  std::size_t n_states() const noexcept;
  double baseline(std::size_t set) const noexcept { return groups_[set / kSetsPerIndex].baseline(set % kSetsPerIndex); }

 private:
  Profile profile_;
  Section section_;
  std::vector<SetGroup> groups_;  // all with the same form of states and the same lengths
  std::size_t n_sets_ = 0;
};

}  // namespace pfgen
