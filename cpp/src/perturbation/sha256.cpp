#include "perturbation/sha256.hpp"

#include <algorithm>
#include <bit>

namespace pfgen {
namespace {

constexpr std::size_t kLengthSize = 8;

constexpr std::array<std::uint32_t, 64> kRoundConstants{
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2};

std::uint32_t big_endian(const unsigned char* p) {
  return static_cast<std::uint32_t>(p[0]) << 24 | static_cast<std::uint32_t>(p[1]) << 16 |
         static_cast<std::uint32_t>(p[2]) << 8 | static_cast<std::uint32_t>(p[3]);
}

}  // namespace

void Sha256::add_block(const unsigned char* block) {
  std::array<std::uint32_t, 16> w{};
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = big_endian(block + 4 * i);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < kRoundConstants.size(); ++i) {
    if (i >= w.size()) {
      const std::uint32_t w15 = w[(i - 15) % 16], w2 = w[(i - 2) % 16];
      w[i % 16] += w[(i - 7) % 16] + (std::rotr(w15, 7) ^ std::rotr(w15, 18) ^ w15 >> 3) +
                   (std::rotr(w2, 17) ^ std::rotr(w2, 19) ^ w2 >> 10);
    }
    const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                             kRoundConstants[i] + w[i % 16];
    const std::uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += added[i];
}

void Sha256::add(std::span<const unsigned char> bytes) {
  const std::size_t n_rest = n_bytes_ % kBlockSize;
  n_bytes_ += bytes.size();
  if (n_rest > 0) {
    const std::size_t n = std::min(bytes.size(), kBlockSize - n_rest);
    std::copy_n(bytes.begin(), n, rest_.begin() + n_rest);
    bytes = bytes.subspan(n);
    if (n_rest + n < kBlockSize) return;
    add_block(rest_.data());
  }
  for (; bytes.size() >= kBlockSize; bytes = bytes.subspan(kBlockSize)) add_block(bytes.data());
  std::copy(bytes.begin(), bytes.end(), rest_.begin());
}

std::uint64_t Sha256::head() {
  std::array<unsigned char, 2 * kBlockSize> end{0x80};
  const std::size_t n_rest = n_bytes_ % kBlockSize;
  const std::size_t n_zeros = (2 * kBlockSize - kLengthSize - 1 - n_rest) % kBlockSize;
  const std::uint64_t n_bits = n_bytes_ * 8;
  for (std::size_t i = 0; i < kLengthSize; ++i) {
    end[n_zeros + kLengthSize - i] = static_cast<unsigned char>(n_bits >> 8 * i);
  }
  add(std::span(end).first(1 + n_zeros + kLengthSize));
  return std::uint64_t{state_[0]} << 32 | state_[1];
}

}  // namespace pfgen
