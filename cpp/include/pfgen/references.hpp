// What the answers to one question are compared with: the n-gram index of its reference sets, the size and the
// baseline of each, for one profile. Immutable and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pfgen/ngram_index.hpp"
#include "pfgen/text.hpp"

namespace pfgen {

enum class Profile : std::uint8_t { kLeaderboard, kPaper };

class References {
 public:
  // `sets[s]` are the answers of set s. Throws CompileError if a set is empty, holds invalid UTF-8, or has
  // baseline 0.
  References(std::span<const std::vector<TextView>> sets, Profile profile);

  Profile profile() const noexcept { return profile_; }
  const NgramIndex& index() const noexcept { return index_; }
  std::size_t n_sets() const noexcept { return sets_.size(); }
  double n_answers(std::size_t set) const noexcept { return sets_[set].n_answers; }
  double baseline(std::size_t set) const noexcept { return sets_[set].baseline; }

  // How much a character counts in truthfulness when the 3-grams over it occur in at most `frequency` answers.
  double support(std::size_t set, std::uint32_t frequency) const noexcept {
    const std::vector<double>& terms = sets_[set].support;
    return frequency < terms.size() ? terms[frequency] : 1.0;
  }

 private:
  struct Set {
    double n_answers;
    double baseline;
    std::vector<double> support;  // by document frequency, as far as it is below 1
  };

  References(std::span<const AnswerSet> sets, Profile profile);
  void measure_baselines(std::span<const AnswerSet> sets);

  Profile profile_;
  NgramIndex index_;
  std::vector<Set> sets_;
};

}  // namespace pfgen
