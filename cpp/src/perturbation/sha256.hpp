// SHA-256 (FIPS 180-4), of which the rules take the first 8 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pfgen {

class Sha256 {
 public:
  void add(std::span<const unsigned char> bytes);
  // Ends the message. The first 8 bytes of its hash, big-endian.
  std::uint64_t head();

 private:
  static constexpr std::size_t kBlockSize = 64;

  void add_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                      0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
  std::array<unsigned char, kBlockSize> rest_{};  // bytes that are no whole block yet
  std::uint64_t n_bytes_ = 0;
};

}  // namespace pfgen
