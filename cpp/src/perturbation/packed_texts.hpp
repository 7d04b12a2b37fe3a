// Texts in as few bytes as they need, each in the narrowest encoding of a Python str.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "pfgen/text.hpp"

namespace pfgen {

class PackedTexts {
 public:
  void clear() noexcept;
  void add(std::u32string_view text);
  void add_null() { places_.push_back({0, 0, Encoding::kLatin1, true}); }
  // Copies the bytes, and writes a view of each text into them.
  std::unique_ptr<unsigned char[]> copy(TextView* views) const;

 private:
  struct Place {
    std::size_t begin;  // byte
    std::size_t n_units;
    Encoding encoding;
    bool is_null;
  };
  std::vector<unsigned char> bytes_;
  std::vector<Place> places_;
};

}  // namespace pfgen
