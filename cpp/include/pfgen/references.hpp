// What the answers to one question are compared with: the n-gram index of its reference sets, the size and the
// baseline of each, for one profile. Immutable and thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pfgen/ngram_index.hpp"
#include "pfgen/text.hpp"

namespace pfgen {

class References {
 public:
  // `sets[s]` are the answers of set s. Throws CompileError if a set is empty, holds invalid UTF-8, or has
  // baseline 0.
  References(std::span<const std::vector<TextView>> sets, Profile profile);
  // Opens what `index().section()` of others holds. Throws IndexFormatError as NgramIndex does.
  References(Section section, Profile profile);

  Profile profile() const noexcept { return profile_; }
  const NgramIndex& index() const noexcept { return index_; }
  std::size_t n_sets() const noexcept { return index_.n_sets(); }
  double n_answers(std::size_t set) const noexcept { return static_cast<double>(index_.n_answers(set)); }
  double baseline(std::size_t set) const noexcept { return index_.baseline(set); }

  // How much a character counts in truthfulness whose most frequent 3-gram has this level in the index.
  double support(std::size_t set, CompactStates::Level level) const noexcept {
    return support_[set * kCompactLevels + level];
  }
  double support(std::size_t set, WideStates::Level level) const noexcept {
    return support_[std::min(begin_[set] + level, begin_[set + 1] - 1)];
  }

 private:
  static constexpr std::size_t kCompactLevels = std::size_t{CompactStates::kMaxLevel} + 1;

  Profile profile_;
  NgramIndex index_;
  std::vector<double> support_;     // of each set, by level
  std::vector<std::size_t> begin_;  // of each set, and the end of the last
};

}  // namespace pfgen
