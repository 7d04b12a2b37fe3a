// The 3-grams of a marked answer, and for each of its positions the highest of the three that cover it
// (docs/scoring.md, section 3).
#pragma once

#include <cstddef>
#include <vector>

#include "index/states.hpp"

namespace pfgen {

// The memory is used again for every answer.
class Cover {
 public:
  using Levels = WideStates::Levels;

  // All 3-grams are without support until put() says otherwise.
  void begin(std::size_t n_trigrams) { of_trigrams_.assign(kBefore + n_trigrams + kBefore, {}); }
  // 3-gram number j begins at position j of the marked answer.
  void put(std::size_t trigram, const Levels& values) { of_trigrams_[kBefore + trigram] = values; }

  void finish() {
    highest_.resize(of_trigrams_.size() - 2);
    take_highest(of_trigrams_, highest_);
  }
  const Levels& at(std::size_t position) const { return highest_[position]; }

 private:
  static constexpr std::size_t kBefore = 2;  // 3-grams without support before the first and after the last

  std::vector<Levels> of_trigrams_;
  std::vector<Levels> highest_;
};

}  // namespace pfgen
