// The profiles, and the constants of the rules (docs/scoring.md, section 9).
#pragma once

#include <cstddef>
#include <cstdint>

namespace pfgen {

// The formulas of the published leaderboard, the formulas of the paper, or those of the leaderboard on normalised
// texts.
enum class Profile : std::uint8_t { kLeaderboard, kPaper, kNormalised };

// Scores are not discounted up to kTargetLength code points, and are 0 from kLimit on.
inline constexpr std::size_t kTargetLength = 100;
inline constexpr std::size_t kLimit = 150;

// Profiles leaderboard and normalised read at most kLookAhead code points, or units, of an answer.
inline constexpr std::size_t kLookPastLimit = 50;
inline constexpr std::size_t kLookAhead = kLimit + kLookPastLimit;

}  // namespace pfgen
