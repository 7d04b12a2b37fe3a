// SHA-256 (FIPS 180-4), of which the rules take the first 8 bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace pfgen {

// The first 8 bytes of the hash, big-endian. Pads `message`, which the caller may use again.
std::uint64_t sha256_head(std::vector<unsigned char>& message);

}  // namespace pfgen
