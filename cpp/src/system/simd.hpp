// Sixteen bytes at a time: by SSE2, by NEON, by WebAssembly's SIMD, or by plain C++, which PFGEN_PLAIN_SIMD forces. All
// give the same results.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if !defined(PFGEN_PLAIN_SIMD) && (defined(__SSE2__) || defined(_M_X64))
#define PFGEN_SSE2
#include <emmintrin.h>
#elif !defined(PFGEN_PLAIN_SIMD) && defined(__aarch64__)
#define PFGEN_NEON
#include <arm_neon.h>
#elif !defined(PFGEN_PLAIN_SIMD) && defined(__wasm_simd128__)
#define PFGEN_WASM_SIMD
#include <wasm_simd128.h>
#endif

namespace pfgen::simd {

inline constexpr std::size_t kBytes = 16;

#if defined(PFGEN_SSE2)

// Sixteen numbers of 8 bits, or eight of 16. A comparison sets all bits of the numbers for which it holds.
struct Bytes {
  __m128i v;

  static Bytes load(const void* from) noexcept { return {_mm_loadu_si128(static_cast<const __m128i*>(from))}; }
  static Bytes all8(std::uint8_t number) noexcept { return {_mm_set1_epi8(static_cast<char>(number))}; }
  void store(void* to) const noexcept { _mm_storeu_si128(static_cast<__m128i*>(to), v); }
  // The highest bit of each number of 8 bits, the first lowest.
  std::uint32_t bits() const noexcept { return static_cast<std::uint32_t>(_mm_movemask_epi8(v)); }

  friend Bytes operator&(Bytes a, Bytes b) noexcept { return {_mm_and_si128(a.v, b.v)}; }
  friend Bytes operator|(Bytes a, Bytes b) noexcept { return {_mm_or_si128(a.v, b.v)}; }
};
inline Bytes equal8(Bytes a, Bytes b) noexcept { return {_mm_cmpeq_epi8(a.v, b.v)}; }
inline Bytes equal16(Bytes a, Bytes b) noexcept { return {_mm_cmpeq_epi16(a.v, b.v)}; }
// Of numbers below 128.
inline Bytes greater8(Bytes a, Bytes b) noexcept { return {_mm_cmpgt_epi8(a.v, b.v)}; }
inline Bytes max8(Bytes a, Bytes b) noexcept { return {_mm_max_epu8(a.v, b.v)}; }
// The lowest bytes of sixteen numbers of which all bits are equal.
inline Bytes narrow16(Bytes a, Bytes b) noexcept { return {_mm_packs_epi16(a.v, b.v)}; }
// Each of the first, or last, eight bytes twice.
inline Bytes twice_low(Bytes a) noexcept { return {_mm_unpacklo_epi8(a.v, a.v)}; }
inline Bytes twice_high(Bytes a) noexcept { return {_mm_unpackhi_epi8(a.v, a.v)}; }

// Two numbers.
struct Pair {
  __m128d v;

  static Pair load(const double* from) noexcept { return {_mm_loadu_pd(from)}; }
  static Pair all(double number) noexcept { return {_mm_set1_pd(number)}; }
  // Of the lower and the higher 32 bits, each below 2^31.
  static Pair of_halves(std::uint64_t halves) noexcept {
    return {_mm_cvtepi32_pd(_mm_cvtsi64_si128(static_cast<long long>(halves)))};
  }
  void store(double* to) const noexcept { _mm_storeu_pd(to, v); }

  friend Pair operator+(Pair a, Pair b) noexcept { return {_mm_add_pd(a.v, b.v)}; }
  friend Pair operator*(Pair a, Pair b) noexcept { return {_mm_mul_pd(a.v, b.v)}; }
  friend Pair operator/(Pair a, Pair b) noexcept { return {_mm_div_pd(a.v, b.v)}; }
};
inline Pair max(Pair a, Pair b) noexcept { return {_mm_max_pd(a.v, b.v)}; }
inline Pair first_of(Pair a, Pair b) noexcept { return {_mm_unpacklo_pd(a.v, b.v)}; }
inline Pair second_of(Pair a, Pair b) noexcept { return {_mm_unpackhi_pd(a.v, b.v)}; }
// A bit for each number: whether it is at least the other.
inline unsigned at_least(Pair a, Pair b) noexcept {
  return static_cast<unsigned>(_mm_movemask_pd(_mm_cmpge_pd(a.v, b.v)));
}

#elif defined(PFGEN_NEON)

struct Bytes {
  uint8x16_t v;

  static Bytes load(const void* from) noexcept { return {vld1q_u8(static_cast<const std::uint8_t*>(from))}; }
  static Bytes all8(std::uint8_t number) noexcept { return {vdupq_n_u8(number)}; }
  void store(void* to) const noexcept { vst1q_u8(static_cast<std::uint8_t*>(to), v); }
  std::uint32_t bits() const noexcept {
    static constexpr std::array<std::uint8_t, 8> kBits = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x8_t of_byte = vld1_u8(kBits.data());
    const uint8x16_t holds = vreinterpretq_u8_s8(vshrq_n_s8(vreinterpretq_s8_u8(v), 7));
    return std::uint32_t{vaddv_u8(vand_u8(vget_low_u8(holds), of_byte))} |
           std::uint32_t{vaddv_u8(vand_u8(vget_high_u8(holds), of_byte))} << 8;
  }

  friend Bytes operator&(Bytes a, Bytes b) noexcept { return {vandq_u8(a.v, b.v)}; }
  friend Bytes operator|(Bytes a, Bytes b) noexcept { return {vorrq_u8(a.v, b.v)}; }
};
inline Bytes equal8(Bytes a, Bytes b) noexcept { return {vceqq_u8(a.v, b.v)}; }
inline Bytes equal16(Bytes a, Bytes b) noexcept {
  return {vreinterpretq_u8_u16(vceqq_u16(vreinterpretq_u16_u8(a.v), vreinterpretq_u16_u8(b.v)))};
}
inline Bytes greater8(Bytes a, Bytes b) noexcept { return {vcgtq_u8(a.v, b.v)}; }
inline Bytes max8(Bytes a, Bytes b) noexcept { return {vmaxq_u8(a.v, b.v)}; }
inline Bytes narrow16(Bytes a, Bytes b) noexcept {
  return {vcombine_u8(vmovn_u16(vreinterpretq_u16_u8(a.v)), vmovn_u16(vreinterpretq_u16_u8(b.v)))};
}
inline Bytes twice_low(Bytes a) noexcept { return {vzip1q_u8(a.v, a.v)}; }
inline Bytes twice_high(Bytes a) noexcept { return {vzip2q_u8(a.v, a.v)}; }

struct Pair {
  float64x2_t v;

  static Pair load(const double* from) noexcept { return {vld1q_f64(from)}; }
  static Pair all(double number) noexcept { return {vdupq_n_f64(number)}; }
  static Pair of_halves(std::uint64_t halves) noexcept { return {vcvtq_f64_u64(vmovl_u32(vcreate_u32(halves)))}; }
  void store(double* to) const noexcept { vst1q_f64(to, v); }

  friend Pair operator+(Pair a, Pair b) noexcept { return {vaddq_f64(a.v, b.v)}; }
  friend Pair operator*(Pair a, Pair b) noexcept { return {vmulq_f64(a.v, b.v)}; }
  friend Pair operator/(Pair a, Pair b) noexcept { return {vdivq_f64(a.v, b.v)}; }
};
inline Pair max(Pair a, Pair b) noexcept { return {vbslq_f64(vcgtq_f64(a.v, b.v), a.v, b.v)}; }
inline Pair first_of(Pair a, Pair b) noexcept { return {vzip1q_f64(a.v, b.v)}; }
inline Pair second_of(Pair a, Pair b) noexcept { return {vzip2q_f64(a.v, b.v)}; }
inline unsigned at_least(Pair a, Pair b) noexcept {
  const uint64x2_t holds = vcgeq_f64(a.v, b.v);
  return static_cast<unsigned>((vgetq_lane_u64(holds, 0) & 1) | (vgetq_lane_u64(holds, 1) & 2));
}

#elif defined(PFGEN_WASM_SIMD)

struct Bytes {
  v128_t v;

  static Bytes load(const void* from) noexcept { return {wasm_v128_load(from)}; }
  static Bytes all8(std::uint8_t number) noexcept { return {wasm_u8x16_splat(number)}; }
  void store(void* to) const noexcept { wasm_v128_store(to, v); }
  std::uint32_t bits() const noexcept { return wasm_i8x16_bitmask(v); }

  friend Bytes operator&(Bytes a, Bytes b) noexcept { return {wasm_v128_and(a.v, b.v)}; }
  friend Bytes operator|(Bytes a, Bytes b) noexcept { return {wasm_v128_or(a.v, b.v)}; }
};
inline Bytes equal8(Bytes a, Bytes b) noexcept { return {wasm_i8x16_eq(a.v, b.v)}; }
inline Bytes equal16(Bytes a, Bytes b) noexcept { return {wasm_i16x8_eq(a.v, b.v)}; }
inline Bytes greater8(Bytes a, Bytes b) noexcept { return {wasm_u8x16_gt(a.v, b.v)}; }
inline Bytes max8(Bytes a, Bytes b) noexcept { return {wasm_u8x16_max(a.v, b.v)}; }
inline Bytes narrow16(Bytes a, Bytes b) noexcept { return {wasm_i8x16_narrow_i16x8(a.v, b.v)}; }
inline Bytes twice_low(Bytes a) noexcept {
  return {wasm_i8x16_shuffle(a.v, a.v, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)};
}
inline Bytes twice_high(Bytes a) noexcept {
  return {wasm_i8x16_shuffle(a.v, a.v, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15)};
}

struct Pair {
  v128_t v;

  static Pair load(const double* from) noexcept { return {wasm_v128_load(from)}; }
  static Pair all(double number) noexcept { return {wasm_f64x2_splat(number)}; }
  static Pair of_halves(std::uint64_t halves) noexcept {
    return {wasm_f64x2_convert_low_u32x4(wasm_u64x2_splat(halves))};
  }
  void store(double* to) const noexcept { wasm_v128_store(to, v); }

  friend Pair operator+(Pair a, Pair b) noexcept { return {wasm_f64x2_add(a.v, b.v)}; }
  friend Pair operator*(Pair a, Pair b) noexcept { return {wasm_f64x2_mul(a.v, b.v)}; }
  friend Pair operator/(Pair a, Pair b) noexcept { return {wasm_f64x2_div(a.v, b.v)}; }
};
inline Pair max(Pair a, Pair b) noexcept { return {wasm_f64x2_pmax(b.v, a.v)}; }
inline Pair first_of(Pair a, Pair b) noexcept { return {wasm_i64x2_shuffle(a.v, b.v, 0, 2)}; }
inline Pair second_of(Pair a, Pair b) noexcept { return {wasm_i64x2_shuffle(a.v, b.v, 1, 3)}; }
inline unsigned at_least(Pair a, Pair b) noexcept { return wasm_i64x2_bitmask(wasm_f64x2_ge(a.v, b.v)); }

#else

struct Bytes {
  std::array<std::uint8_t, kBytes> v;

  static Bytes load(const void* from) noexcept {
    Bytes bytes;
    std::memcpy(bytes.v.data(), from, kBytes);
    return bytes;
  }
  static Bytes all8(std::uint8_t number) noexcept {
    Bytes bytes;
    bytes.v.fill(number);
    return bytes;
  }
  void store(void* to) const noexcept { std::memcpy(to, v.data(), kBytes); }
  std::uint32_t bits() const noexcept {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kBytes; ++i) bits |= std::uint32_t{v[i]} >> 7 << i;
    return bits;
  }

  // `combine` takes two numbers of the type.
  template <class Number, class Combine>
  static Bytes of(Bytes a, Bytes b, const Combine& combine) noexcept {
    std::array<Number, kBytes / sizeof(Number)> numbers, others;
    std::memcpy(numbers.data(), a.v.data(), kBytes);
    std::memcpy(others.data(), b.v.data(), kBytes);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Number>(combine(numbers[i], others[i]));
    return load(numbers.data());
  }
  static Bytes twice(Bytes a, std::size_t first) noexcept {
    Bytes bytes;
    for (std::size_t i = 0; i < kBytes; ++i) bytes.v[i] = a.v[first + i / 2];
    return bytes;
  }

  friend Bytes operator&(Bytes a, Bytes b) noexcept {
    return of<std::uint64_t>(a, b, [](auto x, auto y) { return x & y; });
  }
  friend Bytes operator|(Bytes a, Bytes b) noexcept {
    return of<std::uint64_t>(a, b, [](auto x, auto y) { return x | y; });
  }
};
inline constexpr auto kAllBitsIfEqual = [](auto x, auto y) { return x == y ? -1 : 0; };
inline Bytes equal8(Bytes a, Bytes b) noexcept { return Bytes::of<std::uint8_t>(a, b, kAllBitsIfEqual); }
inline Bytes equal16(Bytes a, Bytes b) noexcept { return Bytes::of<std::uint16_t>(a, b, kAllBitsIfEqual); }
inline Bytes greater8(Bytes a, Bytes b) noexcept {
  return Bytes::of<std::uint8_t>(a, b, [](auto x, auto y) { return x > y ? -1 : 0; });
}
inline Bytes max8(Bytes a, Bytes b) noexcept {
  return Bytes::of<std::uint8_t>(a, b, [](auto x, auto y) { return x > y ? x : y; });
}
inline Bytes narrow16(Bytes a, Bytes b) noexcept {
  Bytes bytes;
  for (std::size_t i = 0; i < kBytes; ++i) bytes.v[i] = i < kBytes / 2 ? a.v[2 * i] : b.v[2 * i - kBytes];
  return bytes;
}
inline Bytes twice_low(Bytes a) noexcept { return Bytes::twice(a, 0); }
inline Bytes twice_high(Bytes a) noexcept { return Bytes::twice(a, kBytes / 2); }

struct Pair {
  double first, second;

  static Pair load(const double* from) noexcept { return {from[0], from[1]}; }
  static Pair all(double number) noexcept { return {number, number}; }
  static Pair of_halves(std::uint64_t halves) noexcept {
    return {static_cast<double>(halves & 0xFFFFFFFF), static_cast<double>(halves >> 32)};
  }
  void store(double* to) const noexcept {
    to[0] = first;
    to[1] = second;
  }

  friend Pair operator+(Pair a, Pair b) noexcept { return {a.first + b.first, a.second + b.second}; }
  friend Pair operator*(Pair a, Pair b) noexcept { return {a.first * b.first, a.second * b.second}; }
  friend Pair operator/(Pair a, Pair b) noexcept { return {a.first / b.first, a.second / b.second}; }
};
inline Pair max(Pair a, Pair b) noexcept {
  return {a.first > b.first ? a.first : b.first, a.second > b.second ? a.second : b.second};
}
inline Pair first_of(Pair a, Pair b) noexcept { return {a.first, b.first}; }
inline Pair second_of(Pair a, Pair b) noexcept { return {a.second, b.second}; }
inline unsigned at_least(Pair a, Pair b) noexcept {
  return unsigned{a.first >= b.first} | unsigned{a.second >= b.second} << 1;
}

#endif

}  // namespace pfgen::simd
