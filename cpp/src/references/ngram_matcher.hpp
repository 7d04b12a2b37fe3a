// The n-grams of some answers, found again in references.
//
// The n-grams get numbers by their prefix: (number of the n-gram without its last symbol, last symbol) -> number. So
// counts are exact. Only n-grams of the answers have numbers, so a reference costs time and no memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pfgen {

class NgramNumbers {
 public:
  static constexpr std::uint32_t kEmpty = 0;  // the number of the empty n-gram, and of an n-gram without a number

  // Forgets all n-grams and makes room for `most` n-grams.
  void clear(std::size_t most) {
    const std::size_t n_slots = std::bit_ceil(2 * most + 2);
    if (entries_.size() < n_slots) entries_.resize(n_slots);
    shift_ = 64 - std::countr_zero(n_slots);
    mask_ = n_slots - 1;
    n_ = 0;
    if (++epoch_ == 0) {
      std::ranges::fill(entries_, Entry{});
      epoch_ = 1;
    }
  }

  std::uint32_t find(std::uint32_t prefix, std::uint32_t symbol) const {
    const Entry& entry = entries_[place_of(key_of(prefix, symbol))];
    return entry.epoch == epoch_ ? entry.number : kEmpty;
  }

  // A new n-gram gets the next number.
  std::uint32_t insert(std::uint32_t prefix, std::uint32_t symbol) {
    const std::uint64_t key = key_of(prefix, symbol);
    Entry& entry = entries_[place_of(key)];
    if (entry.epoch != epoch_) entry = {key, ++n_, epoch_};
    return entry.number;
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t number = 0;
    std::uint32_t epoch = 0;  // entries of earlier epochs are free
  };

  static std::uint64_t key_of(std::uint32_t prefix, std::uint32_t symbol) {
    return std::uint64_t{prefix} << 32 | symbol;
  }

  std::size_t place_of(std::uint64_t key) const {
    std::size_t place = (key ^ key >> 29) * 0x9E3779B97F4A7C15U >> shift_;
    while (entries_[place].epoch == epoch_ && entries_[place].key != key) place = (place + 1) & mask_;
    return place;
  }

  std::vector<Entry> entries_;
  std::size_t mask_ = 0;
  int shift_ = 0;
  std::uint32_t n_ = 0;
  std::uint32_t epoch_ = 0;
};

class NgramMatcher {
 public:
  explicit NgramMatcher(std::size_t order) : order_(order) {}

  std::size_t order() const noexcept { return order_; }

  // Begins with other answers, which have at most `n_symbols` symbols in all.
  void begin(std::size_t n_symbols) {
    numbers_.clear(n_symbols * order_);
    counts_.assign(n_symbols * order_ + 1, 0);
    highest_.assign(counts_.size(), 0);
    in_answer_.assign(counts_.size(), 0);
    found_.clear();
    occurrences_.clear();
    answers_.clear();
  }

  void add_answer(std::span<const std::uint32_t> symbols) {
    answers_.push_back({occurrences_.size(), symbols.size()});
    const std::uint64_t answer = answers_.size();
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      std::uint32_t number = NgramNumbers::kEmpty;
      for (std::size_t n = 0; n < order_; ++n) {
        if (i + n == symbols.size()) {
          occurrences_.resize(occurrences_.size() + order_ - n);
          break;
        }
        number = numbers_.insert(number, symbols[i + n]);
        std::uint64_t& seen = in_answer_[number];
        seen = std::max(seen, answer << 32) + 1;
        occurrences_.push_back({number, static_cast<std::uint32_t>(seen)});
      }
    }
  }

  // Counts the answers' n-grams in a reference, instead of the reference before.
  void count(std::span<const std::uint32_t> reference) {
    for (const std::uint32_t number : found_) counts_[number] = 0;
    found_.clear();
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const std::size_t end = std::min(order_, reference.size() - i);
      std::uint32_t number = NgramNumbers::kEmpty;
      for (std::size_t n = 0; n < end; ++n) {
        number = numbers_.find(number, reference[i + n]);
        if (number == NgramNumbers::kEmpty) break;
        if (counts_[number]++ == 0) found_.push_back(number);
      }
    }
  }

  // Keeps the highest count of each n-gram in all references counted so far.
  void keep_highest() {
    for (const std::uint32_t number : found_) highest_[number] = std::max(highest_[number], counts_[number]);
  }

  // The n-grams of each order that an answer shares with the last reference: `matches[n - 1]` for n-grams of n symbols.
  void match(std::size_t answer, std::int64_t* matches) const { match(answer, counts_, matches); }
  // The n-grams that it shares with the highest counts.
  void match_highest(std::size_t answer, std::int64_t* matches) const { match(answer, highest_, matches); }

  // The n-grams of one order that an answer contains at least `times` times, each counted once.
  std::int64_t n_different(std::size_t answer, std::size_t n, std::uint32_t times) const {
    const Occurrence* at = occurrences_.data() + answers_[answer].first + n - 1;
    std::int64_t found = 0;
    for (std::size_t i = 0; i < answers_[answer].n_symbols; ++i, at += order_) found += at->rank == times ? 1 : 0;
    return found;
  }

 private:
  // The `rank`-th occurrence of an n-gram in its answer; zeros after the end of the answer.
  struct Occurrence {
    std::uint32_t number = 0;
    std::uint32_t rank = 0;
  };
  struct Place {
    std::size_t first;
    std::size_t n_symbols;
  };

  void match(std::size_t answer, const std::vector<std::uint32_t>& counts, std::int64_t* matches) const {
    std::fill_n(matches, order_, 0);
    const Occurrence* at = occurrences_.data() + answers_[answer].first;
    for (std::size_t i = 0; i < answers_[answer].n_symbols; ++i, at += order_) {
      for (std::size_t n = 0; n < order_; ++n) {
        const std::uint32_t count = counts[at[n].number];  // none of the empty n-gram
        if (count == 0) break;                             // then longer n-grams do not occur either
        matches[n] += at[n].rank <= count ? 1 : 0;
      }
    }
  }

  std::size_t order_;
  NgramNumbers numbers_;
  std::vector<std::uint32_t> counts_;     // by number, in the last reference
  std::vector<std::uint32_t> highest_;    // by number
  std::vector<std::uint64_t> in_answer_;  // by number: the answer, and the count in it
  std::vector<std::uint32_t> found_;      // numbers with a count
  std::vector<Occurrence> occurrences_;   // `order_` for each symbol of each answer
  std::vector<Place> answers_;
};

// The number of n-grams of n symbols in a text.
inline std::size_t n_ngrams(std::size_t n_symbols, std::size_t n) { return n_symbols < n ? 0 : n_symbols - n + 1; }

}  // namespace pfgen
