// Numbers of tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pfgen {

using TokenId = std::uint32_t;
inline constexpr TokenId kNoToken = 0xFFFFFFFF;

// Numbers tokens from 0 in the order of their first occurrence. Equal tokens have equal numbers, different ones never.
class Vocabulary {
 public:
  TokenId number_of(std::u32string_view token);
  // The number of a token that is known, or kNoToken.
  TokenId find(std::u32string_view token) const;
  // The view is valid until the next call of number_of() or clear().
  std::u32string_view operator[](TokenId token) const;
  std::size_t size() const noexcept { return entries_.size(); }
  // Takes as long as the tokens are many, and keeps the memory.
  void clear();

 private:
  struct Entry {
    std::size_t end;  // in characters_; the token begins where the one before it ends
    std::uint32_t hash;
    std::uint32_t slot;
  };

  std::uint32_t find_slot(std::u32string_view token, std::uint32_t hash) const;
  void grow();

  std::vector<Entry> entries_;
  std::vector<TokenId> slots_;          // a hash table of numbers; their number is a power of two
  std::vector<TokenId> of_characters_;  // the numbers of tokens of one character
  std::u32string characters_;           // of all tokens
};

}  // namespace pfgen
