// Decompresses .xz as xz writes it by default: one stream, blocks of LZMA2 alone, checked by CRC64.
//
// Everything is checked, so what is unpacked is what was packed. Whatever is damaged or of another kind is refused
// without a word, for liblzma to read it or to say what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pfgen {

// How large a file says that its content is; nothing where it is refused.
std::optional<std::size_t> xz_content_bytes(std::span<const std::uint8_t> stored);

// Fills `content`, which has that size; false where the file is refused, and then `content` may hold anything.
bool unpack_xz(std::span<const std::uint8_t> stored, std::span<std::uint8_t> content);

}  // namespace pfgen
