// An answer in progress, as walks share it: cut into parts of equal length.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "index/states.hpp"
#include "scoring/answer_source.hpp"

namespace pfgen {

struct LaneParts : AnswerLane {
  static constexpr std::size_t kMostParts = 96;
  // Room for what the walk over a part finds behind the part, until the next walk finds the same. Parts are at least as
  // long as the longest n-gram, so no n-gram reaches over two borders.
  static constexpr std::size_t kPast = kMaxOrder + 2;

  std::size_t n = 0;      // symbols
  std::size_t n_own = 0;  // symbols of a part
  std::size_t n_parts = 0, n_begun = 0, n_ended = 0;
  std::array<std::uint8_t, kMostParts> n_past;

  // Into at most so many parts.
  void cut(std::size_t most) noexcept {
    n_own = std::max<std::size_t>(kMaxOrder, (n + most - 1) / most);
    n_parts = (n + n_own - 1) / n_own;
    n_begun = n_ended = 0;
  }
};

}  // namespace pfgen
