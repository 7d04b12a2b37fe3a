// Numbers of the different windows of a text. Windows are compared code point by code point, so equal hashes of
// different windows cost time only.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counting/symbols.hpp"

namespace pfgen {

// Calls `work(offset, hash)` for each window of n code points of a text.
template <class Work>
void for_each_window(std::span<const char32_t> text, std::size_t n, const Work& work) {
  constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;
  std::uint64_t hash = 0;
  std::uint64_t leaving = 1;
  for (std::size_t i = 0; i < n; ++i) leaving *= kBase;
  for (std::size_t i = 0; i < text.size(); ++i) {
    hash = hash * kBase + text[i] + 1;
    if (i >= n) hash -= leaving * (std::uint64_t{text[i - n]} + 1);
    if (i + 1 >= n) work(i + 1 - n, hash);
  }
}

class WindowNumbers {
 public:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

  // Forgets all windows. `text` holds the windows that get numbers, and must outlive them.
  void reset(std::span<const char32_t> text, std::size_t n) {
    text_ = text;
    n_ = n;
    windows_.clear();
    slots_.assign(std::bit_ceil(2 * text.size() + 2), 0);
  }

  // The number of the window at an offset of the text: the next number if the window is new.
  std::uint32_t add(std::size_t offset, std::uint64_t hash) {
    std::uint32_t& slot = slots_[slot_of(text_.data() + offset, hash)];
    if (slot == 0) {
      windows_.push_back({hash, offset});
      slot = static_cast<std::uint32_t>(windows_.size());
    }
    return slot - 1;
  }

  // The number of a window of any text; kUnknown without one.
  std::uint32_t find(const char32_t* window, std::uint64_t hash) const {
    return slots_[slot_of(window, hash)] - 1;  // an empty slot is 0
  }

  std::size_t size() const noexcept { return windows_.size(); }

 private:
  struct Window {
    std::uint64_t hash;
    std::size_t offset;
  };

  // The slot of an equal window, or the empty slot for it.
  std::size_t slot_of(const char32_t* window, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = mixed(hash) & mask;; slot = (slot + 1) & mask) {
      if (slots_[slot] == 0) return slot;
      const Window& known = windows_[slots_[slot] - 1];
      if (known.hash == hash && std::equal(window, window + n_, text_.data() + known.offset)) return slot;
    }
  }

  std::span<const char32_t> text_;
  std::size_t n_ = 1;
  std::vector<Window> windows_;
  std::vector<std::uint32_t> slots_;  // number + 1 of a window; 0 is empty
};

}  // namespace pfgen
