// The random choices of a kind on a text: in which order its sites are damaged, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "system/random.hpp"

namespace pfgen {

// A number below `n`.
inline std::size_t below(Generator& generator, std::size_t n) {
  return static_cast<std::size_t>(multiply_high(generator.draw(), n));
}

// The number of a kind and a text that all their choices begin with.
std::uint64_t stream_of(std::string_view kind, std::u32string_view text);

// The state in which the choices of a kind on a text begin.
std::uint64_t state_of(std::uint64_t stream, std::uint64_t seed);

inline constexpr std::uint32_t kNeverTaken = 0xFFFFFFFF;

class SiteOrder {
 public:
  // Orders sites 0 to n - 1; draws from the generator.
  void shuffle(Generator& generator, std::size_t n_sites);
  // Leaves out each site that shares a unit with one before it in the order. Site i damages the units `units[i]` and
  // the next.
  void keep_apart(const std::vector<std::uint32_t>& units, std::size_t n_units);

  std::size_t size() const noexcept { return order_.size(); }
  std::uint32_t operator[](std::size_t rank) const { return order_[rank]; }
  // The site's place in the order; kNeverTaken if it was left out.
  std::uint32_t rank(std::size_t site) const { return ranks_[site]; }
  // The state of the generator that chooses how the site is damaged.
  std::uint64_t choice(std::size_t site) const { return after_.ahead(site); }

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> ranks_;
  std::vector<bool> is_used_;
  Generator after_{0};
};

}  // namespace pfgen
