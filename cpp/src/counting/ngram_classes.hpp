// Which answers share n-grams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counting/sorted_windows.hpp"

namespace pfgen {

// N-grams that just the same answers hold are one class, so that a swap looks at classes. Of n-grams that only one
// answer holds, that answer keeps the number.
class NgramClasses {
 public:
  NgramClasses(const SortedWindows& windows, std::size_t n_rows);

  std::size_t n_rows() const noexcept { return n_distinct_.size(); }
  std::size_t n_classes() const noexcept { return weights_.size(); }

  // For each class, which several answers contain: its number of n-grams, and the answers that contain them. The first
  // classes have the most answers and are stored with a bit for every answer. The other classes have a list of answers,
  // which is smaller for them.
  std::uint32_t weight(std::size_t c) const noexcept { return weights_[c]; }
  std::size_t n_dense() const noexcept { return n_dense_; }
  std::size_t n_words() const noexcept { return (n_rows() + 63) / 64; }
  std::span<const std::uint64_t> bits(std::size_t dense) const noexcept {
    return std::span(bits_).subspan(dense * n_words(), n_words());
  }
  std::span<const std::uint32_t> rows(std::size_t c) const noexcept {
    const std::size_t sparse = c - n_dense_;
    return std::span(rows_).subspan(rows_begin_[sparse], rows_begin_[sparse + 1] - rows_begin_[sparse]);
  }
  // Of an answer, in order.
  std::span<const std::uint32_t> classes(std::size_t row) const noexcept {
    return std::span(classes_).subspan(classes_begin_[row], classes_begin_[row + 1] - classes_begin_[row]);
  }

  // Numbers of distinct n-grams of an answer: all, and those that only this answer contains.
  std::uint64_t n_distinct(std::size_t row) const noexcept { return n_distinct_[row]; }
  std::uint64_t n_own(std::size_t row) const noexcept { return n_own_[row]; }
  // The sum of the document frequencies of the distinct n-grams of an answer.
  std::uint64_t frequencies(std::size_t row) const noexcept { return frequencies_[row]; }

  std::uint64_t n_ngrams() const noexcept { return n_ngrams_; }

 private:
  std::vector<std::uint32_t> weights_;
  std::size_t n_dense_ = 0;
  std::vector<std::uint64_t> bits_;
  std::vector<std::size_t> rows_begin_{0};
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> classes_begin_;
  std::vector<std::uint32_t> classes_;
  std::vector<std::uint64_t> n_distinct_;
  std::vector<std::uint64_t> n_own_;
  std::vector<std::uint64_t> frequencies_;
  std::uint64_t n_ngrams_ = 0;
};

}  // namespace pfgen
