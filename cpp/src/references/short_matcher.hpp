// The n-grams of a short answer, found again in references: the places where an n-gram ends are bits of few words, so
// nothing branches, which takes a third of the time of NgramTree.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pfgen {

template <std::size_t kWords>
class ShortMatcher {
 public:
  static constexpr std::size_t kMostSymbols = 64 * kWords;
  static constexpr std::size_t kMostOrder = 6;

  // `order` is at most kMostOrder, or nothing else may be called.
  explicit ShortMatcher(std::size_t order) : order_(order) {}

  // `symbols` are small numbers: memory is as large as the largest.
  void set_answer(std::span<const std::uint32_t> symbols) {
    for (const std::uint32_t symbol : symbols_) places_[symbol] = {};
    symbols_.assign(symbols.begin(), symbols.end());
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i] >= places_.size()) places_.resize(std::size_t{symbols[i]} + 1);
      places_[symbols[i]][i / 64] |= std::uint64_t{1} << (i % 64);
    }
    forget_references();
  }

  // Like NgramTree::forget_references.
  void forget_references() { found_ = {}; }

  // Like NgramTree::match.
  void match(std::span<const std::uint32_t> reference, std::int64_t* matches) {
    find(reference);
    for (std::size_t n = 0; n < order_; ++n) {
      matches[n] = 0;
      for (const std::uint64_t word : used_[n]) matches[n] += std::popcount(word);
    }
  }

  // Like NgramTree::add_matches.
  void add_matches(std::span<const std::uint32_t> reference, std::int64_t* matches) {
    find(reference);
    for (std::size_t n = 0; n < order_; ++n) {
      for (std::size_t w = 0; w < kWords; ++w) {
        matches[n] += std::popcount(used_[n][w] & ~found_[n][w]);
        found_[n][w] |= used_[n][w];
      }
    }
  }

 private:
  using Bits = std::array<std::uint64_t, kWords>;  // of places in the answer

  // The loops over orders have a constant length, so that they are unrolled.
  void find(std::span<const std::uint32_t> reference) {
    [&]<std::size_t... kOrders>(std::index_sequence<kOrders...>) {
      (void)((order_ == kOrders + 1 && (find_ngrams<kOrders + 1>(reference), true)) || ...);
    }(std::make_index_sequence<kMostOrder>());
  }

  // Each n-gram of the reference uses up the first place where it ends in the answer.
  template <std::size_t kOrder>
  void find_ngrams(std::span<const std::uint32_t> reference) {
    std::array<Bits, kOrder> used{};
    std::array<Bits, kOrder> ends{};  // by order: the places of the n-gram that ends here in the reference
    for (const std::uint32_t symbol : reference) {
      const Bits places = symbol < places_.size() ? places_[symbol] : Bits{};
      for (std::size_t n = kOrder; n-- > 0;) {
        std::uint64_t carry = 0;
        std::uint64_t is_first = 1;  // as long as no lower bit is set
        for (std::size_t w = 0; w < kWords; ++w) {
          const std::uint64_t shorter = n == 0 ? 0 : ends[n - 1][w];
          ends[n][w] = n == 0 ? places[w] : (shorter << 1 | carry) & places[w];
          carry = shorter >> 63;
          const std::uint64_t free = ends[n][w] & ~used[n][w];
          used[n][w] |= free & (~free + is_first);  // the lowest bit
          is_first &= free == 0 ? 1 : 0;
        }
      }
    }
    std::ranges::copy(used, used_.begin());
  }

  std::size_t order_;
  std::vector<Bits> places_;              // by symbol
  std::vector<std::uint32_t> symbols_;    // of the answer
  std::array<Bits, kMostOrder> used_{};   // by order: places that the last reference uses
  std::array<Bits, kMostOrder> found_{};  // places that some reference uses
};

}  // namespace pfgen
