// The 3-grams of a marked answer, and for each of its positions the highest of the three that cover it
// (docs/scoring.md, section 3).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pfgen {

// `Values` holds one number for each set: a document frequency, or whatever rises with it; `take_highest(values,
// highest)` takes the highest of each three neighbours. The memory is used again for every answer.
template <class Values>
class Cover {
 public:
  // All 3-grams are without support until put() says otherwise.
  void begin(std::size_t n_trigrams) { of_trigrams_.assign(kBefore + n_trigrams + kBefore, {}); }
  // 3-gram number j begins at position j of the marked answer.
  void put(std::size_t trigram, const Values& values) { of_trigrams_[kBefore + trigram] = values; }

  void finish() {
    highest_.resize(of_trigrams_.size() - 2);
    take_highest(std::span<const Values>(of_trigrams_), std::span<Values>(highest_));
  }
  const Values& at(std::size_t position) const { return highest_[position]; }

 private:
  static constexpr std::size_t kBefore = 2;  // 3-grams without support before the first, and behind the last

  std::vector<Values> of_trigrams_;
  std::vector<Values> highest_;
};

}  // namespace pfgen
