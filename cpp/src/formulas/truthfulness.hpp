// Truthfulness (docs/scoring.md, sections 3 and 7), for several sets at once, so that their additions run in parallel.
//
// Position j of the marked answer holds the answer's code point j - 1. The profiles differ in the characters that they
// skip and in the positions at which they take a score.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pfgen {

// The characters that truthfulness skips; the last two not in profile paper.
inline constexpr std::u32string_view kSkipped =
    U"\u3001\u3002\u3008\u3009\u300A\u300B\u300C\u300D\u300E\u300F\u3010\u3011\u30FB\uFF08\uFF09\uFF3B\uFF3D^$";

inline bool is_skipped(char32_t c, bool is_leaderboard) noexcept {
  return kSkipped.substr(0, kSkipped.size() - (is_leaderboard ? 0 : 2)).find(c) != std::u32string_view::npos;
}

// Where a score is taken.
struct ScoringPositions {
  std::size_t first;
  bool at_skipped;    // at skipped characters too
  bool only_at_last;  // only at the last counted character, which is before the target length
};

// A counted character past all that can raise a score may still be the last one.
template <class Lengths>
ScoringPositions leaderboard_positions(const Lengths& lengths, std::span<const char32_t> code_points) {
  const std::size_t first = lengths.target;
  for (std::size_t j = first; j <= code_points.size(); ++j) {
    if (!is_skipped(code_points[j - 1], true)) return {first, false, false};
  }
  return {first, false, true};
}

template <class Lengths>
ScoringPositions paper_positions(const Lengths& lengths, std::size_t n_code_points) {
  return {std::min(lengths.target, n_code_points), true, false};
}

// `add_support(j, totals)` adds to the total of each set how much the character at position j counts: at most 1, and 0
// if it is skipped. Of the sets, the first `n_sets` matter.
template <std::size_t kSets, class Lengths, class AddSupport>
std::array<double, kSets> best_prefix_truthfulness(const Lengths& lengths, const ScoringPositions& positions,
                                                   std::span<const std::uint8_t> counted, std::size_t n_sets,
                                                   const AddSupport& add_support) {
  std::array<double, kSets> totals{};
  std::array<double, kSets> best{};
  std::size_t count = 0;
  const std::size_t n_before = std::min(counted.size(), std::max<std::size_t>(positions.first, 1) - 1);
  for (std::size_t j = 1; j <= n_before; ++j) {
    add_support(j, totals);
    count += counted[j - 1];
  }
  for (std::size_t j = n_before + 1; j <= counted.size(); ++j) {
    add_support(j, totals);
    count += counted[j - 1];
    if (count == 0 || !(counted[j - 1] != 0 || positions.at_skipped)) continue;
    const auto n = static_cast<double>(count);
    const double discount = lengths.discount(j);
    for (std::size_t s = 0; s < kSets; ++s) best[s] = std::max(best[s], totals[s] / n * discount);
    // No later position has more left, and no mean of supports is above 1.
    if (std::ranges::all_of(std::span(best).first(n_sets), [&](double b) { return b >= discount; })) break;
  }
  if (!positions.only_at_last || count == 0) return best;
  for (std::size_t s = 0; s < kSets; ++s) best[s] = totals[s] / static_cast<double>(count);
  return best;
}

}  // namespace pfgen
