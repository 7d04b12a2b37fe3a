// The 3-grams of a marked answer, and for each of its positions the highest of the three that cover it
// (docs/scoring.md, section 3).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "index/states.hpp"

namespace pfgen {

// `Values` holds one number for each set: a document frequency, or a number that rises with it. `take_highest(values,
// highest)` takes the highest of three neighbours. The memory is used again for every answer.
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
  static constexpr std::size_t kBefore = 2;  // 3-grams without support before the first and after the last

  std::vector<Values> of_trigrams_;
  std::vector<Values> highest_;
};

// Calls `put(number, state)` for the two 3-grams with the marks of "^answer$" that the references contain. `^` and `$`
// are ordinary characters here. 3-gram number j begins at position j of the marked answer. Where an answer is cut, its
// assumed end is after all positions that can raise a score.
template <class States, class Put>
void for_each_marked_trigram(const Alphabet& alphabet, const States& states, std::span<const Symbol> symbols,
                             const Put& put) {
  const std::size_t n = symbols.size();
  const auto look_up = [&](std::size_t number, Symbol a, Symbol b, Symbol c) {
    const Cursor end = read_symbol(states, read_symbol(states, read_symbol(states, {}, a), b), c);
    if (end.matched >= 3) put(number, states[end.place.state]);
  };
  if (n == 0) return;
  const Symbol begin = alphabet.symbol_of(U'^');
  const Symbol end = alphabet.symbol_of(U'$');
  if (begin != kUnknown) look_up(0, begin, symbols[0], n == 1 ? end : symbols[1]);
  if (n >= 2 && end != kUnknown) look_up(n - 1, symbols[n - 2], symbols[n - 1], end);
}

}  // namespace pfgen
