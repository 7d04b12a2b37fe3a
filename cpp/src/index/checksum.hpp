// XXH64 with seed 0: a fast checksum with a published specification, so that other programs can check a file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pfgen {

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

// The checksum of bytes that are read piece by piece.
class RunningChecksum {
 public:
  static constexpr std::size_t kStripe = 32;

  RunningChecksum() noexcept;
  // `stripes` is a whole number of stripes.
  void add(std::span<const std::byte> stripes) noexcept;
  // The checksum of all added bytes followed by `end`, which is shorter than a stripe.
  std::uint64_t with_end(std::span<const std::byte> end = {}) const noexcept;

 private:
  std::array<std::uint64_t, 4> lanes_;
  std::uint64_t n_bytes_ = 0;
};

}  // namespace pfgen
