// Finds the n-grams that an answer repeats: they count once (docs/scoring.md, section 2).
//
// If an n-gram occurred earlier in the answer, so did its suffixes. So only the longest earlier n-gram at each position
// is needed. Most of them are single symbols, which one comparison finds. Longer n-grams are searched only if the last
// two symbols may have occurred together earlier. Symbols are numbered from 1, at most kMostSymbols.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "index/states.hpp"
#include "system/prefetch.hpp"

namespace pfgen {

// The symbols of an answer so far. Its memory is used again for every answer.
class SeenSymbols {
 public:
  static constexpr std::size_t kMostSymbols = std::numeric_limits<std::uint8_t>::max();

  // Reads one answer. A copy of addresses: the compiler must assume that writing a byte may change any other object.
  class Reader {
   public:
    Reader(std::uint16_t* seen_in, std::uint16_t n_answers, std::uint8_t* latest)
        : seen_in_(seen_in), n_answers_(n_answers), latest_(latest) {}

    // Reads symbol i, counted from 0. Sets whether it was there before (1 or 0), and the number of the symbol at which
    // the same pair of symbols may have ended before (0: none).
    void read(std::size_t i, std::uint32_t symbol, std::uint8_t& repeated, std::uint8_t& earlier) noexcept {
      repeated = static_cast<std::uint8_t>(seen_in_[symbol] == n_answers_);
      seen_in_[symbol] = n_answers_;
      const std::uint32_t product = symbol * 0x9E3779B1U;
      static_assert(kPairs == std::size_t{1} << (32 - 22));
      std::uint8_t& latest = latest_[(product + before_) >> 22];
      before_ = product >> 9;
      earlier = latest;
      latest = static_cast<std::uint8_t>(i + 1);
    }

   private:
    std::uint16_t* seen_in_;
    std::uint16_t n_answers_;
    std::uint8_t* latest_;
    std::uint32_t before_ = 0;
  };

  // Begins another answer, with symbols up to `max_symbol`.
  Reader begin(std::size_t max_symbol) {
    if (seen_in_.size() <= max_symbol || ++n_answers_ == 0) {
      seen_in_.assign(std::max(seen_in_.size(), max_symbol + 1), 0);
      n_answers_ = 1;
    }
    latest_.fill(0);
    return {seen_in_.data(), n_answers_, latest_.data()};
  }

 private:
  static constexpr std::size_t kPairs = 1024;

  std::vector<std::uint16_t> seen_in_;  // number of the answer that a symbol was last seen in
  std::uint16_t n_answers_ = 0;
  std::array<std::uint8_t, kPairs> latest_;  // the symbol at which a pair of symbols, by its hash, ended last
};

// The repeats of two or more symbols in an answer that has been walked.
template <class States>
class Repeats {
 public:
  // `candidates(visit)` visits, in order, the positions whose symbol and the one before it are repeated. `n_common(a,
  // b, most)` counts how many symbols before and at both places are the same; more than `most` are not needed.
  // `matched` and `earlier` are by the number of a symbol.
  template <class Symbol, class Candidates, class Common>
  void find(const States& states, const Symbol* symbols, const std::uint8_t* matched, const std::uint8_t* earlier,
            const Candidates& candidates, const Common& n_common) {
    std::size_t n = 0;
    std::size_t last = 0;  // number of the last symbol of the repeat before
    std::uint32_t last_length = 1;
    candidates([&](std::size_t i) {
      const std::uint32_t most = std::min<std::uint32_t>(matched[i + 1], (last == i ? last_length : 1) + 1);
      std::uint32_t behind = earlier[i + 1];
      std::uint32_t length = 0;
      do {
        length =
            std::max(length, std::min(n_common(symbols + i, symbols + behind - 1, std::min(most, behind)), behind));
        behind = earlier[behind];
      } while (length < most && behind != 0);
      length = std::min(length, most);
      repeats_[n] = {static_cast<std::uint32_t>(i), length, nullptr};
      const bool is_repeat = length >= 2;
      n += std::size_t{is_repeat};
      last = is_repeat ? i + 1 : last;
      last_length = is_repeat ? length : last_length;
    });
    n_ = n;
    find_states(states, symbols);
  }

  void prefetch_links(const States& states) const noexcept {
    for (std::size_t k = 0; k < n_; ++k) prefetch(&states[repeats_[k].state->link_place().state]);
  }

  // Subtracts their counts from those of their positions. Their suffixes were there before too, and the single symbol
  // is subtracted already.
  template <class Symbol, class Counts>
  void subtract(const States& states, const Symbol* symbols, const Counts* of_symbols, Counts* contributions) const {
    for (std::size_t k = 0; k < n_; ++k) {
      const auto& [i, length, state] = repeats_[k];
      contributions[i] += of_symbols[symbols[i]];
      contributions[i] -= counts_up_to(states, *state, length);
    }
  }

 private:
  struct Repeat {
    std::uint32_t position, length;
    const typename States::State* state;  // that holds it
  };

  // A state is read forwards from the root, or from the state of the repeat that it continues.
  template <class Symbol>
  void find_states(const States& states, const Symbol* symbols) {
    Place place;
    std::uint32_t expected = 0;  // position and length of a repeat that continues the one before
    for (std::size_t k = 0; k < n_; ++k) {
      const std::uint32_t i = repeats_[k].position, length = repeats_[k].length;
      if (length > 2 && (i << 8 | length) != expected) {
        place = {};
        for (std::size_t j = i + 1 - length; j < i; ++j) place = states.edge(place.base + symbols[j]).place();
      }
      const std::uint32_t base = length == 2 ? states.edge(symbols[i - 1]).place().base : place.base;
      place = states.edge(base + symbols[i]).place();
      expected = (i + 1) << 8 | (length + 1);
      repeats_[k].state = &states[place.state];
      prefetch(repeats_[k].state);
    }
  }

  std::array<Repeat, SeenSymbols::kMostSymbols + 1> repeats_;
  std::size_t n_ = 0;
};

}  // namespace pfgen
