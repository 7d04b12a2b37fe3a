#include "index/checksum.hpp"

#include <array>
#include <bit>

#include "system/little_endian.hpp"
#include "system/prefetch.hpp"

namespace pfgen {
namespace {

// The five primes of the specification.
constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87U;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FU;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9U;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63U;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5U;

// Takes it from the front.
template <class Number>
Number take(std::span<const std::byte>& bytes) noexcept {
  const auto number = number_at<Number>(bytes.data());
  bytes = bytes.subspan(sizeof number);
  return number;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t input) noexcept {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

}  // namespace

RunningChecksum::RunningChecksum() noexcept : lanes_{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1} {}

// Four lanes side by side.
void RunningChecksum::add(std::span<const std::byte> stripes) noexcept {
  std::array<std::uint64_t, 4> lanes = lanes_;
  for (const std::byte *stripe = stripes.data(), *end = stripe + stripes.size(); stripe != end; stripe += kStripe) {
    prefetch_scan(stripe);
    for (std::size_t i = 0; i < 4; ++i) lanes[i] = round(lanes[i], number_at<std::uint64_t>(stripe + 8 * i));
  }
  lanes_ = lanes;
  n_bytes_ += stripes.size();
}

std::uint64_t RunningChecksum::with_end(std::span<const std::byte> end) const noexcept {
  std::uint64_t hash = kPrime5;
  if (n_bytes_ > 0) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) hash = (hash ^ round(0, lane)) * kPrime1 + kPrime4;
  }
  hash += n_bytes_ + end.size();
  while (end.size() >= 8) hash = std::rotl(hash ^ round(0, take<std::uint64_t>(end)), 27) * kPrime1 + kPrime4;
  if (end.size() >= 4) hash = std::rotl(hash ^ take<std::uint32_t>(end) * kPrime1, 23) * kPrime2 + kPrime3;
  while (!end.empty()) hash = std::rotl(hash ^ take<std::uint8_t>(end) * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  const std::size_t n_in_stripes = bytes.size() / RunningChecksum::kStripe * RunningChecksum::kStripe;
  RunningChecksum running;
  running.add(bytes.first(n_in_stripes));
  return running.with_end(bytes.subspan(n_in_stripes));
}

}  // namespace pfgen
