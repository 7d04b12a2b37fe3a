// A hash table over 64-bit keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pfgen {

// A value for each key; a new key has the value `kUnset`, which must be changed at once.
template <std::uint32_t kUnset>
class KeyTable {
 public:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t value = kUnset;
  };

  std::uint32_t& operator[](std::uint64_t key) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    Entry& entry = entries_[place_of(key)];
    if (entry.value == kUnset) {
      entry.key = key;
      ++size_;
    }
    return entry.value;
  }
  // The value of a key, or `kUnset`.
  std::uint32_t find(std::uint64_t key) const { return entries_.empty() ? kUnset : entries_[place_of(key)].value; }
  std::size_t size() const noexcept { return size_; }
  // All entries, and unset ones.
  const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::size_t place_of(std::uint64_t key) const {
    std::uint64_t hash = (key ^ key >> 32) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
    std::size_t place = hash & (entries_.size() - 1);
    while (entries_[place].value != kUnset && entries_[place].key != key) place = (place + 1) & (entries_.size() - 1);
    return place;
  }

  void grow() {
    std::vector<Entry> old(std::max<std::size_t>(2 * entries_.size(), 1024));
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.value != kUnset) entries_[place_of(entry.key)] = entry;
    }
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace pfgen
