// Selects a few of many answers with nearly the same distribution of n-grams, by the rules of docs/selection.md.
//
// All sums are exact. Answers are texts of any length; invalid UTF-8 throws InvalidAnswer; too many answers to count
// and options out of range throw CompileError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "pfgen/text.hpp"

namespace pfgen {

// Sums over all distinct n-grams, where `all` answers hold an n-gram and `chosen` of the chosen ones do.
struct DistributionSums {
  std::uint64_t n_ngrams = 0;
  std::uint64_t all_squares = 0;     // all * all
  std::uint64_t chosen_squares = 0;  // chosen * chosen
  std::uint64_t products = 0;        // all * chosen
};

// The n-grams of one order.
struct OrderCoverage {
  std::uint64_t n_ngrams = 0;          // distinct
  std::uint64_t n_held = 0;            // distinct, that a chosen answer holds
  std::uint64_t frequencies = 0;       // sum of the numbers of answers that hold each
  std::uint64_t held_frequencies = 0;  // the same, of n-grams that a chosen answer contains
};

struct Comparison {
  DistributionSums sums;
  std::vector<OrderCoverage> orders;  // from order 1
};

// Compares the answers of `rows`, which are distinct rows of `answers`, with all.
Comparison compare(std::span<const TextView> answers, std::span<const std::uint32_t> rows, std::size_t max_order);

struct SelectionOptions {
  std::size_t size = 1;
  std::size_t max_order = 10;
  std::uint64_t stream = 0;  // of random numbers
  std::size_t n_restarts = 1;
  std::optional<std::uint64_t> n_proposals = std::nullopt;  // no step begins after this number of swaps in all
  std::optional<double> seconds = std::nullopt;             // no step begins after this time
};

struct CurvePoint {
  std::uint64_t n_proposals;
  DistributionSums sums;
};

// One climb.
struct Climb {
  std::vector<std::uint32_t> rows;  // sorted
  std::vector<CurvePoint> curve;    // from the random subset to the last swap
  std::uint64_t n_proposals = 0;
  std::uint64_t n_accepted = 0;
  bool is_finished = false;  // no swap lowers the error
};

// Climbs from random subsets, one climb after another, until the limit. Without a limit the climbs run on `n_threads`
// threads, which does not change the result. The calling thread calls `on_progress` regularly; an exception from it
// ends the work.
std::vector<Climb> select(std::span<const TextView> answers, const SelectionOptions& options, std::size_t n_threads,
                          const std::function<void(const CurvePoint&)>& on_progress = {});

}  // namespace pfgen
