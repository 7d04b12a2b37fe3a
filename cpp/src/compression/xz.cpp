#include "pfgen/xz.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "compression/lzma2.hpp"
#include "system/little_endian.hpp"

namespace pfgen {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kStreamHead = 12;
constexpr std::size_t kStreamFoot = 12;
constexpr std::array<std::uint8_t, 6> kMagic{0xFD, '7', 'z', 'X', 'Z', 0};
constexpr std::size_t kCrc32 = 4;
constexpr std::size_t kCrc64 = 8;
constexpr std::uint8_t kCheckIsCrc64 = 4;
constexpr std::uint8_t kLzma2 = 0x21;
constexpr std::size_t kMaxDictionary = 1U << 26;  // of the strongest preset of xz

using CrcTables = std::array<std::array<std::uint64_t, 256>, 8>;

constexpr CrcTables crc_tables(std::uint64_t polynomial) {
  CrcTables tables{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::uint64_t value = byte;
    for (int i = 0; i < 8; ++i) value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
    tables[0][byte] = value;
  }
  for (std::size_t i = 1; i < tables.size(); ++i) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t before = tables[i - 1][byte];
      tables[i][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

// Eight bytes at a time, by the tables of what each of them leaves.
std::uint64_t crc64(Bytes bytes) {
  static constexpr CrcTables kTables = crc_tables(0xC96C5795D7870F42);
  std::uint64_t crc = ~std::uint64_t{0};
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    const std::uint64_t word = crc ^ number_at<std::uint64_t>(bytes.data() + at);
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> 8 * i & 0xFF];
  }
  for (; at < bytes.size(); ++at) crc = kTables[0][(crc ^ bytes[at]) & 0xFF] ^ crc >> 8;
  return ~crc;
}

std::uint32_t crc32(Bytes bytes) {
  static constexpr CrcTables kTables = crc_tables(0xEDB88320);
  std::uint64_t crc = 0xFFFFFFFF;
  for (const std::uint8_t byte : bytes) crc = kTables[0][(crc ^ byte) & 0xFF] ^ crc >> 8;
  return static_cast<std::uint32_t>(~crc);
}

bool has_crc32(Bytes bytes, const std::uint8_t* recorded) { return crc32(bytes) == number_at<std::uint32_t>(recorded); }

// Numbers of the format: seven bits a byte, from the lowest.
std::optional<std::uint64_t> take_number(Bytes& rest) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 9 && i < rest.size(); ++i) {
    number |= std::uint64_t{rest[i] & 0x7FU} << 7 * i;
    if (rest[i] < 0x80) {
      if (i > 0 && rest[i] == 0) return std::nullopt;
      rest = rest.subspan(i + 1);
      return number;
    }
  }
  return std::nullopt;
}

bool are_zeros(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

struct Block {
  std::uint64_t n_stored;  // with its head and check, without padding
  std::uint64_t n_content;
};

std::uint64_t padded(std::uint64_t n) { return (n + 3) / 4 * 4; }

// The index at the end of a stream, behind the blocks.
std::optional<std::vector<Block>> blocks_of(Bytes index) {
  if (index.size() < 8 || index[0] != 0) return std::nullopt;
  Bytes rest = index.first(index.size() - kCrc32);
  if (!has_crc32(rest, rest.data() + rest.size())) return std::nullopt;
  rest = rest.subspan(1);
  const auto n = take_number(rest);
  if (!n || *n > rest.size()) return std::nullopt;
  std::vector<Block> blocks;
  for (std::uint64_t i = 0; i < *n; ++i) {
    const auto n_stored = take_number(rest);
    const auto n_content = n_stored ? take_number(rest) : std::nullopt;
    if (!n_content) return std::nullopt;
    blocks.push_back({*n_stored, *n_content});
  }
  if (rest.size() > 3 || !are_zeros(rest)) return std::nullopt;
  return blocks;
}

// The parts of one stream that fills all of `stored`.
struct Stream {
  Bytes blocks;
  std::vector<Block> index;
};

std::optional<Stream> stream_of(Bytes stored) {
  if (stored.size() < kStreamHead + kStreamFoot || stored.size() % 4 != 0) return std::nullopt;
  const std::uint8_t* const head = stored.data();
  const std::uint8_t* const foot = head + stored.size() - kStreamFoot;
  const bool is_plain = std::equal(kMagic.begin(), kMagic.end(), head) && head[6] == 0 && head[7] == kCheckIsCrc64 &&
                        has_crc32(stored.subspan(6, 2), head + 8) && foot[10] == 'Y' && foot[11] == 'Z' &&
                        foot[8] == head[6] && foot[9] == head[7] && has_crc32({foot + 4, 6}, foot);
  if (!is_plain) return std::nullopt;
  const std::size_t n_index = (std::size_t{number_at<std::uint32_t>(foot + 4)} + 1) * 4;
  const std::size_t inside = stored.size() - kStreamHead - kStreamFoot;
  if (n_index > inside) return std::nullopt;
  auto index = blocks_of(stored.subspan(kStreamHead + inside - n_index, n_index));
  if (!index) return std::nullopt;
  return Stream{stored.subspan(kStreamHead, inside - n_index), std::move(*index)};
}

struct BlockHead {
  std::size_t n_bytes;
  std::size_t dictionary;
  std::optional<std::uint64_t> n_compressed;
  std::optional<std::uint64_t> n_content;
};

std::optional<std::size_t> dictionary_of(unsigned bits) {
  const std::uint64_t n = std::uint64_t{2 | (bits & 1)} << (bits / 2 + 11);
  return bits <= 40 && n <= kMaxDictionary ? std::optional(static_cast<std::size_t>(n)) : std::nullopt;
}

std::optional<BlockHead> block_head(Bytes block) {
  if (block.empty() || block[0] == 0) return std::nullopt;
  const std::size_t n_bytes = (std::size_t{block[0]} + 1) * 4;
  if (n_bytes > block.size() || !has_crc32(block.first(n_bytes - kCrc32), block.data() + n_bytes - kCrc32)) {
    return std::nullopt;
  }
  const unsigned flags = block[1];
  Bytes rest = block.subspan(2, n_bytes - kCrc32 - 2);
  BlockHead head{n_bytes, 0, {}, {}};
  if ((flags & 0x40) != 0) head.n_compressed = take_number(rest);
  if ((flags & 0x80) != 0) head.n_content = take_number(rest);
  if (head.n_compressed.has_value() != ((flags & 0x40) != 0)) return std::nullopt;
  if (head.n_content.has_value() != ((flags & 0x80) != 0)) return std::nullopt;
  const bool is_lzma2 = (flags & 0x3F) == 0 && rest.size() >= 3 && rest[0] == kLzma2 && rest[1] == 1;
  if (!is_lzma2 || !are_zeros(rest.subspan(3))) return std::nullopt;
  const auto dictionary = dictionary_of(rest[2]);
  if (!dictionary) return std::nullopt;
  head.dictionary = *dictionary;
  return head;
}

// `bytes` are those of a block with its padding.
bool unpack_block(const Block& block, Bytes bytes, std::span<std::uint8_t> content) {
  const auto head = block_head(bytes);
  if (!head) return false;
  const Bytes compressed = bytes.subspan(head->n_bytes);
  const auto n = unpack_lzma2(compressed, content, head->dictionary);
  if (!n || head->n_compressed.value_or(*n) != *n || head->n_content.value_or(content.size()) != content.size() ||
      head->n_bytes + *n + kCrc64 != block.n_stored) {
    return false;
  }
  const std::size_t n_padding = bytes.size() - static_cast<std::size_t>(block.n_stored);  // in front of the checksum
  return are_zeros(compressed.subspan(*n, n_padding)) &&
         crc64(content) == number_at<std::uint64_t>(compressed.data() + *n + n_padding);
}

}  // namespace

std::optional<std::size_t> xz_content_bytes(Bytes stored) {
  const auto stream = stream_of(stored);
  if (!stream) return std::nullopt;
  std::uint64_t n = 0;
  for (const Block& block : stream->index) {
    if (block.n_content > SIZE_MAX / 2 - n) return std::nullopt;
    n += block.n_content;
  }
  return static_cast<std::size_t>(n);
}

bool unpack_xz(Bytes stored, std::span<std::uint8_t> content) {
  const auto stream = stream_of(stored);
  if (!stream) return false;
  Bytes rest = stream->blocks;
  for (const Block& block : stream->index) {
    if (block.n_stored > rest.size() || padded(block.n_stored) > rest.size()) return false;
    if (block.n_content > content.size()) return false;
    const auto n_block = static_cast<std::size_t>(padded(block.n_stored));
    const auto n_content = static_cast<std::size_t>(block.n_content);
    if (!unpack_block(block, rest.first(n_block), content.first(n_content))) return false;
    rest = rest.subspan(n_block);
    content = content.subspan(n_content);
  }
  return rest.empty() && content.empty();
}

}  // namespace pfgen
