// The 3-grams of "^answer$" that hold a mark (docs/scoring.md, section 3).
#pragma once

#include <cstddef>
#include <span>

#include "index/states.hpp"

namespace pfgen {

// Calls `put(end, state)` for those that the references contain; each ends with the symbol of the number `end`, the
// last with the one behind the answer. `^` and `$` are ordinary characters here. Where an answer is cut, its assumed
// end is after all positions that can raise a score.
template <class States, class Symbols, class Put>
void for_each_marked_trigram(const Alphabet& alphabet, const States& states, const Symbols& symbols, const Put& put) {
  const std::size_t n = symbols.size();
  const auto look_up = [&](std::size_t last, Symbol a, Symbol b, Symbol c) {
    const Cursor end = read_symbol(states, read_symbol(states, read_symbol(states, {}, a), b), c);
    if (end.matched >= 3) put(last, states[end.place.state]);
  };
  if (n == 0) return;
  const Symbol begin = alphabet.symbol_of(U'^');
  const Symbol end = alphabet.symbol_of(U'$');
  if (begin != kUnknown) look_up(1, begin, symbols[0], n == 1 ? end : symbols[1]);
  if (n >= 2 && end != kUnknown) look_up(n, symbols[n - 2], symbols[n - 1], end);
}

}  // namespace pfgen
