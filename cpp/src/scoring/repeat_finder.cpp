#include "scoring/repeat_finder.hpp"

#include <algorithm>
#include <limits>

#include "pfgen/constants.hpp"

namespace pfgen {

static_assert(kLimit + 2 <= std::numeric_limits<std::uint8_t>::max(), "positions of pairs are 8-bit numbers");

void RepeatFinder::read(std::span<const Symbol> symbols, Symbol max_symbol) {
  if (seen_in_.size() <= max_symbol || ++n_answers_ == 0) {
    seen_in_.assign(std::max<std::size_t>(seen_in_.size(), max_symbol + std::size_t{1}), 0);
    n_answers_ = 1;
  }
  const std::size_t n = symbols.size();
  latest_.fill(0);
  is_repeated_.resize(n);
  earlier_.resize(n);
  candidates_.resize(n);
  // Local names for what stays the same, because a byte that is written might be part of anything else.
  std::uint8_t* const is_repeated = is_repeated_.data();
  std::uint8_t* const earlier = earlier_.data();
  std::uint8_t* const candidates = candidates_.data();
  std::uint8_t* const latest = latest_.data();
  std::uint16_t* const seen_in = seen_in_.data();
  const std::uint16_t n_answers = n_answers_;
  std::size_t n_candidates = 0;
  unsigned was_repeated = 0;  // the symbol before; before the first there is none
  Symbol before = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Symbol symbol = symbols[i];
    const unsigned repeated = seen_in[symbol] == n_answers;
    seen_in[symbol] = n_answers;
    const std::size_t slot = pair_slot(before, symbol);
    const std::uint8_t at = latest[slot];
    latest[slot] = static_cast<std::uint8_t>(i + 1);
    earlier[i] = at;
    is_repeated[i] = static_cast<std::uint8_t>(repeated);
    candidates[n_candidates] = static_cast<std::uint8_t>(i);
    n_candidates += repeated & was_repeated & unsigned{at != 0};
    was_repeated = repeated;
    before = symbol;
  }
  candidates_.resize(n_candidates);
}

}  // namespace pfgen
