// Decompresses LZMA2 from one piece of memory into another, which is its dictionary too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pfgen {

// Fills `content` and returns how many bytes of `stored` that took, with the end marker. Nothing where the data is
// damaged, gives more or fewer bytes, or refers back farther than `dictionary` bytes.
std::optional<std::size_t> unpack_lzma2(std::span<const std::uint8_t> stored, std::span<std::uint8_t> content,
                                        std::size_t dictionary);

}  // namespace pfgen
