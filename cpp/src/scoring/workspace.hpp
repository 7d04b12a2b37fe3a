// Memory that one thread uses again for every answer that it scores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "formulas/cover.hpp"
#include "index/states.hpp"
#include "scoring/lane.hpp"
#include "scoring/repeat_finder.hpp"

namespace pfgen {

// What a walk over a part of an answer found past its border, up to where the next walk finds the same.
template <class States>
struct Crossing {
  std::size_t n;
  std::array<Position<States>, 1 + kMaxOrder> positions;  // from 1 on
};

// What GroupScorer works in, for one form of states.
template <class States>
struct GroupBuffers {
  std::vector<typename States::Counts> contributions;  // what each position adds to the raw fluency of the sets
  std::vector<std::uint8_t> partial;                   // where a state holds longer n-grams than the answer
  Cover<typename States::Levels> cover;
  std::array<Crossing<States>, kLanes> crossing;
};

struct Workspace {
  template <class States>
  GroupBuffers<States>& buffers() noexcept {
    if constexpr (std::is_same_v<States, CompactStates>) return compact;
    else return wide;
  }

  std::array<Lane, kLanes> lanes;
  RepeatFinder repeat_finder;
  GroupBuffers<CompactStates> compact;
  GroupBuffers<WideStates> wide;
  std::vector<std::uint8_t> counted;  // which code points truthfulness counts
};

}  // namespace pfgen
