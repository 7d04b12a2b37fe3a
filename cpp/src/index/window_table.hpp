// The distinct windows of the answers to one question. Most windows of references are repeated, so the distinct windows
// are a fraction of the positions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "index/alphabet.hpp"
#include "index/window.hpp"
#include "system/prefetch.hpp"

namespace pfgen {

// Windows are numbered in the order in which they first occur.
template <std::size_t kWords>
class WindowTable {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Entry {
    Window<kWords> window;
    std::uint32_t before;  // the window before it where it was first seen; kNone at the beginning of an answer
    std::uint32_t n_occurrences;
  };

  std::span<const Entry> entries() const noexcept { return entries_; }
  // The window of each position of the answers, in their order.
  std::span<const std::uint32_t> numbers() const noexcept { return numbers_; }

  // Empties the table for answers of `n_positions` together, and keeps its memory.
  void clear(std::size_t n_positions) {
    entries_.clear();
    numbers_.clear();
    numbers_.reserve(n_positions);
    slots_.assign(std::bit_ceil(n_positions + 1), kNone);
  }

  // Adds the windows of an answer, one for each position.
  void add(std::span<const Window<kWords>> windows) {
    hashes_.resize(std::max(hashes_.size(), windows.size()));
    for (std::size_t i = 0; i < windows.size(); ++i) {
      hashes_[i] = windows[i].hash();
      prefetch(&slots_[slot_of(hashes_[i])]);
    }
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const std::uint32_t number = slots_[slot_of(hashes_[i])];
      if (number != kNone) prefetch(&entries_[number]);
    }
    std::uint32_t before = kNone;
    numbers_.resize(numbers_.size() + windows.size());
    std::uint32_t* const numbers = numbers_.data() + numbers_.size() - windows.size();
    for (std::size_t i = 0; i < windows.size(); ++i) {
      before = number_of(windows[i], hashes_[i], before);
      numbers[i] = before;
    }
  }

 private:
  std::size_t slot_of(std::uint64_t hash) const { return hash & (slots_.size() - 1); }

  std::uint32_t number_of(const Window<kWords>& window, std::uint64_t hash, std::uint32_t before) {
    // A text that repeats one window usually repeats the next window too.
    const std::uint32_t likely = before + 1;
    if (likely < entries_.size() && entries_[likely].window == window) {
      ++entries_[likely].n_occurrences;
      return likely;
    }
    if (2 * entries_.size() >= slots_.size()) grow();
    std::size_t slot = slot_of(hash);
    for (; slots_[slot] != kNone; slot = slot_of(slot + 1)) {
      Entry& entry = entries_[slots_[slot]];
      if (entry.window != window) continue;
      ++entry.n_occurrences;
      return slots_[slot];
    }
    slots_[slot] = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({window, before, 1});
    return slots_[slot];
  }

  void grow() {
    slots_.assign(slots_.size() * 2, kNone);
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      std::size_t slot = slot_of(entries_[i].window.hash());
      while (slots_[slot] != kNone) slot = slot_of(slot + 1);
      slots_[slot] = i;
    }
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // hash table over entries_
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint64_t> hashes_;  // of one answer's windows
};

}  // namespace pfgen
