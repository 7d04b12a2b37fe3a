// What the answers to one question are compared with: the n-gram index of its reference sets, the size and the
// baseline of each, for one profile. Immutable and thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "index/section_builder.hpp"
#include "index/set_group.hpp"
#include "pfgen/constants.hpp"
#include "pfgen/section.hpp"
#include "pfgen/text.hpp"

namespace pfgen {

class References {
 public:
  // `sets[s]` are the answers of set s. Throws CompileError if a set is empty, holds invalid UTF-8, or has
  // baseline 0.
  References(std::span<const std::vector<TextView>> sets, Profile profile);
  // The same, with a builder that goes on to other questions.
  References(std::span<const std::vector<TextView>> sets, Profile profile, SectionBuilder& builder);
  // Opens what `section()` of others holds. Throws IndexFormatError as NgramIndex does.
  References(Section section, Profile profile);

  Profile profile() const noexcept { return profile_; }
  const Section& section() const noexcept { return section_; }
  std::span<const SetGroup> groups() const noexcept { return groups_; }
  std::size_t n_sets() const noexcept { return n_sets_; }
  std::size_t n_states() const noexcept;
  double baseline(std::size_t set) const noexcept { return groups_[set / kSetsPerIndex].baseline(set % kSetsPerIndex); }

 private:
  Profile profile_;
  Section section_;
  std::vector<SetGroup> groups_;  // all with the same form of states
  std::size_t n_sets_ = 0;
};

}  // namespace pfgen
