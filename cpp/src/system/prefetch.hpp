// Asking for memory before it is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#if defined(_MSC_VER) && defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace pfgen {

inline void prefetch([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#elif defined(_MSC_VER) && defined(_M_X64)
  _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
#endif
}

// Only into the second level of the cache, for many lines at once: fewer can be on their way into the first.
inline void prefetch_many([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(address, 0, 2);
#elif defined(_MSC_VER) && defined(_M_X64)
  _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T1);
#endif
}

// The distance that a long scan prefetches ahead, because many processors, especially virtual ones, do not prefetch by
// themselves.
inline constexpr std::size_t kScanAheadBytes = 2048;

// Prefetches memory that far behind an item of a scan. This may be past the end, where no pointer may point, so the
// address is computed as a number.
inline void prefetch_scan(const void* item) noexcept {
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(item) + kScanAheadBytes;
  prefetch(reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr): it is never read
}

// Brings memory into the cache by reading it in order.
inline void fetch(std::span<const std::byte> bytes) noexcept {
  unsigned char sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 64) {
    prefetch_scan(&bytes[at]);
    sum ^= static_cast<unsigned char>(bytes[at]);
  }
  [[maybe_unused]] const volatile unsigned char sink = sum;  // so that the loop has an effect
}

// Calls `work(i)` for each i below n. Before each call, calls `soon(i + kItemsAhead)`, which prefetches memory.
inline constexpr std::size_t kItemsAhead = 16;
template <class Soon, class Work>
void for_each_ahead(std::size_t n, const Soon& soon, const Work& work) {
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kItemsAhead < n) soon(i + kItemsAhead);
    work(i);
  }
}

}  // namespace pfgen
