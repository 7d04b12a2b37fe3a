// Counts of the n-grams of many answers: which are rare, and how many answers hold each. All counts are exact.
//
// Answers are texts of any length; invalid UTF-8 throws InvalidAnswer, 2^31 code points or more in all throw
// CompileError. The calling thread calls `on_pause` regularly; an exception from it ends the work of all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pfgen/text.hpp"

namespace pfgen {

// The longest n-grams whose document frequencies are counted.
inline constexpr std::size_t kLongestNgram = 64;

struct RareNgrams {
  std::vector<std::int32_t> first;  // of each answer: offset in code points of its first rare n-gram, -1 without one
  std::uint64_t n_rare = 0;         // distinct n-grams that are rare
  std::uint64_t n_distinct = 0;     // distinct n-grams
};

// Finds the n-grams of one order that occur less than `below` times in all answers together. `order` is at least 1.
RareNgrams find_rare_ngrams(std::span<const TextView> answers, std::size_t order, std::uint64_t below,
                            std::size_t n_threads, const std::function<void()>& on_pause = {});

// The distinct n-grams, sorted by code points; a prefix comes before longer n-grams.
struct DocumentFrequencies {
  std::vector<std::uint32_t> rows;         // of an answer that holds the n-gram
  std::vector<std::uint32_t> offsets;      // its position there, in code points
  std::vector<std::uint8_t> orders;        // its length
  std::vector<std::uint32_t> frequencies;  // how many answers hold it
};

// Counts the answers that hold each n-gram of the orders 1 to `max_order`, which is at most kLongestNgram.
DocumentFrequencies document_frequencies(std::span<const TextView> answers, std::size_t max_order,
                                         std::size_t n_threads, const std::function<void()>& on_pause = {});

}  // namespace pfgen
