// The profiles, and the lengths of the rules (docs/scoring.md, section 9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace pfgen {

// The formulas of the published leaderboard, the formulas of the paper, or those of the leaderboard on normalised
// texts.
enum class Profile : std::uint8_t { kLeaderboard, kPaper, kNormalised };

inline constexpr std::size_t kMaxLimit = 20'000;

// Lengths of answers, in the units of a question: scores are not discounted up to `target`, and are 0 from `limit` on.
struct Lengths {
  std::size_t target = 100;
  std::size_t limit = 150;

  constexpr bool are_valid() const noexcept { return 1 <= target && target < limit && limit <= kMaxLimit; }
  // How many units of an answer profiles leaderboard and normalised read.
  constexpr std::size_t look_ahead() const noexcept { return 2 * limit - target; }
  // The factor by which a length of `n` units discounts a score: 0 at the limit, negative past it.
  constexpr double discount(std::size_t n) const noexcept {
    return 1.0 - static_cast<double>(n > target ? n - target : 0) / static_cast<double>(limit - target);
  }

  friend constexpr bool operator==(const Lengths&, const Lengths&) = default;
};

// How many units of an answer a profile reads; truthfulness reads one more.
constexpr std::size_t look_ahead_of(Profile profile, const Lengths& lengths) noexcept {
  return profile == Profile::kPaper ? std::numeric_limits<std::size_t>::max() - 1 : lengths.look_ahead();
}

}  // namespace pfgen
