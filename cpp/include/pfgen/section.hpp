// The bytes of one question in a compiled suite (docs/index_format.md), built in memory or mapped from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace pfgen {

// Bytes that begin at a multiple of kAlignment, and the owner that keeps them alive.
struct Section {
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::uint64_t align(std::uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

}  // namespace pfgen
