#include "references/tokens.hpp"

#include <algorithm>

namespace pfgen {
namespace {

constexpr TokenId kFree = 0xFFFFFFFF;
constexpr std::size_t kFewestSlots = 256;  // a power of two, as every number of slots

std::uint32_t hash_of(std::u32string_view token) {
  std::uint64_t hash = token.size();
  for (const char32_t c : token) hash = (hash ^ c) * 0x9E3779B97F4A7C15U;
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

std::uint32_t Vocabulary::find_slot(std::u32string_view token, std::uint32_t hash) const {
  const std::size_t last = slots_.size() - 1;
  std::size_t slot = hash & last;
  while (slots_[slot] != kFree && (entries_[slots_[slot]].hash != hash || (*this)[slots_[slot]] != token)) {
    slot = (slot + 1) & last;
  }
  return static_cast<std::uint32_t>(slot);
}

std::u32string_view Vocabulary::operator[](TokenId token) const {
  const std::size_t begin = token == 0 ? 0 : entries_[token - 1].end;
  return std::u32string_view(characters_).substr(begin, entries_[token].end - begin);
}

TokenId Vocabulary::number_of(std::u32string_view token) {
  if (2 * entries_.size() >= slots_.size()) grow();
  const std::uint32_t hash = hash_of(token);
  const std::uint32_t slot = find_slot(token, hash);
  if (slots_[slot] == kFree) {
    slots_[slot] = static_cast<TokenId>(entries_.size());
    characters_ += token;
    entries_.push_back({characters_.size(), hash, slot});
  }
  return slots_[slot];
}

void Vocabulary::grow() {
  slots_.assign(std::max(2 * slots_.size(), kFewestSlots), kFree);
  const std::size_t last = slots_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = entries_[i].hash & last;
    while (slots_[slot] != kFree) slot = (slot + 1) & last;
    slots_[slot] = static_cast<TokenId>(i);
    entries_[i].slot = static_cast<std::uint32_t>(slot);
  }
}

void Vocabulary::clear() {
  for (const Entry& entry : entries_) slots_[entry.slot] = kFree;
  entries_.clear();
  characters_.clear();
}

}  // namespace pfgen
