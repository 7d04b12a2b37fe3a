#include "index/set_group.hpp"

#include "formulas/support.hpp"
#include "pfgen/error.hpp"

namespace pfgen {

SetGroup::SetGroup(std::span<const std::byte> bytes) : index_(bytes) {
  for (std::size_t set = 0; set < kSetsPerIndex; ++set) {
    of_sets_[set] = set < n_sets() ? support_by_frequency(n_answers(set)) : std::vector{0.0};
    if (index_.is_wide()) continue;
    if (of_sets_[set].size() > CompactStates::kMaxLevel + 1) {
      throw IndexFormatError("a compact index with too many answers");
    }
  }
  if (index_.is_wide()) return;
  const auto support = [&](std::size_t set, std::size_t level) {
    return of_sets_[set][std::min(level, of_sets_[set].size() - 1)];
  };
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      of_pairs_[pair].push_back({support(2 * pair, byte & 15), support(2 * pair + 1, byte >> 4)});
    }
  }
}

}  // namespace pfgen
