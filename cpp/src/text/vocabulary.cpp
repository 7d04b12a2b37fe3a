#include "text/vocabulary.hpp"

#include <algorithm>
#include <bit>

namespace pfgen {
namespace {

constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;
constexpr std::size_t kFewestSlots = 256;

std::uint32_t hash_of(std::u32string_view token) {
  std::uint64_t hash = token.size();
  for (std::size_t i = 0; i < token.size(); i += 2) {
    const std::uint64_t next = i + 1 < token.size() ? token[i + 1] : 0;
    hash = (hash ^ next << 32 ^ token[i]) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  }
  return static_cast<std::uint32_t>(hash);
}

}  // namespace

std::uint32_t Vocabulary::find_slot(std::u32string_view token, std::uint32_t hash) const {
  const std::size_t last = slots_.size() - 1;
  std::size_t slot = hash & last;
  const auto is_other = [&](TokenId known) { return entries_[known].hash != hash || (*this)[known] != token; };
  while (slots_[slot] != kNoToken && is_other(slots_[slot])) slot = (slot + 1) & last;
  return static_cast<std::uint32_t>(slot);
}

std::u32string_view Vocabulary::operator[](TokenId token) const {
  const std::size_t begin = token == 0 ? 0 : entries_[token - 1].end;
  return std::u32string_view(characters_).substr(begin, entries_[token].end - begin);
}

TokenId Vocabulary::number_of(std::u32string_view token) {
  const auto number = static_cast<TokenId>(entries_.size());
  const auto add = [&](std::uint32_t hash, std::uint32_t slot) {
    characters_ += token;
    entries_.push_back({characters_.size(), hash, slot});
    return number;
  };
  if (token.size() == 1) {
    if (token[0] >= of_characters_.size()) of_characters_.resize(token[0] + std::size_t{1}, kNoToken);
    TokenId& known = of_characters_[token[0]];
    return known == kNoToken ? known = add(0, kNoSlot) : known;
  }
  if (2 * entries_.size() >= slots_.size()) grow();
  const std::uint32_t hash = hash_of(token);
  const std::uint32_t slot = find_slot(token, hash);
  return slots_[slot] == kNoToken ? slots_[slot] = add(hash, slot) : slots_[slot];
}

TokenId Vocabulary::find(std::u32string_view token) const {
  if (token.size() == 1) return token[0] < of_characters_.size() ? of_characters_[token[0]] : kNoToken;
  return slots_.empty() ? kNoToken : slots_[find_slot(token, hash_of(token))];
}

void Vocabulary::grow() {
  slots_.assign(std::bit_ceil(std::max(4 * entries_.size(), kFewestSlots)), kNoToken);
  const std::size_t last = slots_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].slot == kNoSlot) continue;
    std::size_t slot = entries_[i].hash & last;
    while (slots_[slot] != kNoToken) slot = (slot + 1) & last;
    slots_[slot] = static_cast<TokenId>(i);
    entries_[i].slot = static_cast<std::uint32_t>(slot);
  }
}

void Vocabulary::clear() {
  for (TokenId i = 0; i < entries_.size(); ++i) {
    if (entries_[i].slot == kNoSlot) {
      of_characters_[(*this)[i][0]] = kNoToken;
    } else {
      slots_[entries_[i].slot] = kNoToken;
    }
  }
  entries_.clear();
  characters_.clear();
}

}  // namespace pfgen
