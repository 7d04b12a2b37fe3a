// XXH64 with seed 0: a fast checksum with a published specification, so that other programs can check a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pfgen {

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace pfgen
