// Numbers keys in the order in which they are first seen.
#pragma once

#include <cstdint>
#include <limits>

#include "system/key_table.hpp"

namespace pfgen {

// There are less than 2^32 - 1 keys.
class Numbering {
 public:
  std::uint32_t number_of(std::uint32_t a, std::uint32_t b) { return number_of(std::uint64_t{a} << 32 | b); }
  std::uint32_t number_of(std::uint64_t key) {
    std::uint32_t& number = numbers_[key];
    if (number == kNone) number = static_cast<std::uint32_t>(numbers_.size() - 1);
    return number;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  KeyTable<kNone> numbers_;
};

}  // namespace pfgen
