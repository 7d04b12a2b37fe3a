// Counts the n-grams that an answer shares with references, which differ only in speed for short and long answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "references/ngram_tree.hpp"
#include "references/short_matcher.hpp"

namespace pfgen {

class NgramMatcher {
 public:
  // n-grams of 1 to `order` symbols.
  explicit NgramMatcher(std::size_t order) : order_(order), narrow_(order), wide_(order), tree_(order) {}

  std::size_t order() const noexcept { return order_; }

  // Symbols are small numbers.
  void set_answer(std::span<const std::uint32_t> symbols) {
    const bool has_high_order = order_ > Narrow::kMostOrder;
    form_ = has_high_order                           ? Form::kTree
            : symbols.size() <= Narrow::kMostSymbols ? Form::kNarrow
            : symbols.size() <= Wide::kMostSymbols   ? Form::kWide
                                                     : Form::kTree;
    with_matcher([&](auto& matcher) { matcher.set_answer(symbols); });
  }

  // The next reference is the first one for `add_matches`.
  void forget_references() {
    with_matcher([](auto& matcher) { matcher.forget_references(); });
  }

  // Counts the n-grams that the answer shares with a reference: `matches[n - 1]` of n symbols.
  void match(std::span<const std::uint32_t> reference, std::int64_t* matches) {
    with_matcher([&](auto& matcher) { matcher.match(reference, matches); });
  }

  // Adds the n-grams that it shares with this reference, and with no earlier reference as often.
  void add_matches(std::span<const std::uint32_t> reference, std::int64_t* matches) {
    with_matcher([&](auto& matcher) { matcher.add_matches(reference, matches); });
  }

 private:
  using Narrow = ShortMatcher<1>;
  using Wide = ShortMatcher<2>;
  enum class Form : std::uint8_t { kNarrow, kWide, kTree };

  template <class Call>
  void with_matcher(const Call& call) {
    if (form_ == Form::kNarrow) {
      call(narrow_);
    } else if (form_ == Form::kWide) {
      call(wide_);
    } else {
      call(tree_);
    }
  }

  std::size_t order_;
  Form form_ = Form::kTree;
  Narrow narrow_;
  Wide wide_;
  NgramTree tree_;
};

// The number of n-grams of n symbols in a text.
inline std::size_t n_ngrams(std::size_t n_symbols, std::size_t n) { return n_symbols < n ? 0 : n_symbols - n + 1; }

}  // namespace pfgen
