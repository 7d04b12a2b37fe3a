// The n-grams that one answer shares with up to four sets, for variants of the constants: for every prefix and order
// the sum of the document frequencies, and the document frequencies of the 3-grams over every position.
//
// It follows the rules plainly, without the shortcuts that make a GroupScorer fast.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/references.hpp"
#include "scoring/cover.hpp"

namespace pfgen {

// Its memory is used again for every answer; for one thread.
template <class States>
class PrefixCounts {
 public:
  using Frequencies = WideStates::Levels;

  explicit PrefixCounts(const SetGroup& group)
      : group_(group), index_(group.index()), states_(index_.template states<States>()), seen_(index_.n_states()) {}

  const SetGroup& group() const noexcept { return group_; }
  std::span<const char32_t> code_points() const noexcept { return code_points_; }

  // `code_points` stay borrowed until the next call.
  void read(std::span<const char32_t> code_points) {
    code_points_ = code_points;
    ++n_answers_;
    sums_.assign((code_points.size() + 1) * kSums, 0);
    by_order_.fill({});
    symbols_.clear();
    cover_.begin(code_points.size());
    Cursor cursor;
    for (std::size_t i = 0; i < code_points.size(); ++i) {
      symbols_.push_back(index_.alphabet().symbol_of(code_points[i]));
      cursor = read_symbol(states_, cursor, symbols_.back());
      add_new_ngrams(cursor);
      store_sums(i + 1);
      if (cursor.matched >= 3) cover_.put(i - 1, frequencies(suffix_state(states_, states_[cursor.place.state], 3)));
    }
    for_each_marked_trigram(index_.alphabet(), states_, symbols_, [&](std::size_t number, const auto& state) {
      cover_.put(number, frequencies(suffix_state(states_, state, 3)));
    });
    cover_.finish();
  }

  // The sum of the document frequencies of the distinct n-grams of up to `order` code points within the first `n`.
  std::uint64_t sum(std::size_t n, std::size_t order, std::size_t set) const noexcept {
    return sums_[n * kSums + order * kSetsPerIndex + set];
  }
  // The highest document frequencies of the 3-grams over a position of the marked answer.
  const Frequencies& cover(std::size_t position) const { return cover_.at(position); }

 private:
  static constexpr std::size_t kOrders = kMaxOrder;
  static constexpr std::size_t kSums = (kOrders + 1) * kSetsPerIndex;

  struct Seen {
    std::uint32_t answer = 0;
    std::uint32_t length = 0;
  };

  Frequencies frequencies(const typename States::State& state) const noexcept {
    const auto& link = states_[state.link_place().state];
    Frequencies found;
    for (std::size_t s = 0; s < kSetsPerIndex; ++s) {
      found.of_sets[s] = divide_exactly(state.cumulative(s) - link.cumulative(s), state.depth() - state.link_depth());
    }
    return found;
  }

  // Adds the n-grams that end where the cursor is and have not been seen in this answer. If an
  // n-gram was seen, all its suffixes were seen too.
  void add_new_ngrams(Cursor cursor) {
    StateId state = cursor.place.state;
    std::uint32_t length = cursor.matched;
    while (state != kRoot) {
      Seen& seen = seen_[state];
      const std::uint32_t link_length = states_[state].link_depth();
      const bool was_seen = seen.answer == n_answers_;
      const std::uint32_t known = was_seen ? seen.length : link_length;
      if (known >= length) return;
      const Frequencies found = frequencies(states_[state]);
      for (std::uint32_t order = known + 1; order <= length; ++order) {
        for (std::size_t s = 0; s < kSetsPerIndex; ++s) by_order_[order][s] += found[s];
      }
      seen = {n_answers_, length};
      if (was_seen) return;
      state = states_[state].link_place().state;
      length = link_length;
    }
  }

  void store_sums(std::size_t n) {
    std::uint64_t* to = &sums_[n * kSums];
    PerSet<std::uint64_t> total{};
    for (std::size_t order = 1; order <= kOrders; ++order) {
      for (std::size_t s = 0; s < kSetsPerIndex; ++s) to[order * kSetsPerIndex + s] = total[s] += by_order_[order][s];
    }
  }

  const SetGroup& group_;
  const NgramIndex& index_;
  const States& states_;
  std::span<const char32_t> code_points_;
  std::vector<Symbol> symbols_;
  std::vector<Seen> seen_;  // by state: the longest of its n-grams in the answer
  std::uint32_t n_answers_ = 0;
  std::array<PerSet<std::uint64_t>, kOrders + 1> by_order_;
  std::vector<std::uint64_t> sums_;
  Cover<Frequencies> cover_;
};

}  // namespace pfgen
