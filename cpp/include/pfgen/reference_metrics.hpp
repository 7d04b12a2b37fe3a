// BLEU and chrF from the counts that determine them, as sacrebleu computes them: the same operations in the same order.
// The counts of several texts are the sums of the counts of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pfgen {

enum class Smoothing : std::uint8_t { kNone, kFloor, kAddK, kExp };

struct BleuOptions {
  Smoothing smoothing = Smoothing::kExp;
  double smoothing_value = 0;  // of kFloor and kAddK
  std::size_t max_order = 4;

  // Tokens of the answer and of the nearest reference, then for each order the n-grams that match, then all n-grams.
  std::size_t n_counts() const noexcept { return 2 + 2 * max_order; }
};

// From 0 to 100. With `is_effective`, orders that the text is too short for do not count.
double bleu(const BleuOptions& options, bool is_effective, std::span<const std::int64_t> counts);

// From 0 to 1: BLEU of the nmt script, smoothed. `counts` are those of BLEU, apart from the length of the reference.
double nmt_bleu(std::size_t order, std::span<const std::int64_t> counts, std::int64_t reference_length);

struct ChrfOptions {
  std::size_t char_order = 6;
  double beta = 2;
  bool has_white_space = false;  // in n-grams of characters
  bool is_smoothed = false;
};

// From 0 to 100. `counts` has three for each order: n-grams of the answer, n-grams of the reference, matches.
double chrf(const ChrfOptions& options, std::span<const std::int64_t> counts);

}  // namespace pfgen
