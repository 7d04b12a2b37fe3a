#include "perturbation/distinct_texts.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace pfgen {
namespace {

constexpr std::size_t kFewestSlots = 64;

// The i-th number that is not in an ascending list.
std::size_t ith_without(std::span<const std::uint32_t> left_out, std::size_t i) {
  std::size_t low = 0, high = left_out.size();  // the number of entries that come before it
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (left_out[middle] - middle <= i) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return i + low;
}

}  // namespace

std::uint32_t hash_of(std::u32string_view text) {
  std::uint64_t hash = text.size();
  for (const char32_t c : text) hash = (std::rotl(hash, 5) ^ c) * 0x9E3779B97F4A7C15U;
  return static_cast<std::uint32_t>(hash >> 32);
}

std::size_t DistinctTexts::slot_of(std::u32string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != kAbsent) {
    const Entry& entry = entries_[slots_[slot]];
    if (entry.hash == hash && view(entry) == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void DistinctTexts::fill_slots(std::size_t n_slots) {
  slots_.assign(n_slots, kAbsent);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = entries_[i].hash & (n_slots - 1);
    while (slots_[slot] != kAbsent) slot = (slot + 1) & (n_slots - 1);
    slots_[slot] = static_cast<std::uint32_t>(i);
  }
}

void DistinctTexts::add(std::u32string_view text, std::uint32_t group) {
  if (2 * entries_.size() >= slots_.size()) fill_slots(std::max(kFewestSlots, 2 * slots_.size()));
  const std::uint32_t hash = hash_of(text);
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != kAbsent) {
    Entry& known = entries_[slots_[slot]];
    if (known.group != group) known.group = kShared;
    return;
  }
  if (entries_.size() == kAbsent - 1) throw std::length_error("the donors have more than 2^32 parts");
  slots_[slot] = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({code_points_.size(), static_cast<std::uint32_t>(text.size()), group, hash});
  code_points_.insert(code_points_.end(), text.begin(), text.end());
}

void DistinctTexts::sort() {
  std::sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) { return view(a) < view(b); });
  fill_slots(std::max(kFewestSlots, slots_.size()));
  std::uint32_t n_groups = 0;
  for (const Entry& entry : entries_) {
    if (entry.group != kShared) n_groups = std::max(n_groups, entry.group + 1);
  }
  group_begins_.assign(std::size_t{n_groups} + 1, 0);
  for (const Entry& entry : entries_) {
    if (entry.group != kShared) ++group_begins_[entry.group + 1];
  }
  for (std::size_t group = 0; group < n_groups; ++group) group_begins_[group + 1] += group_begins_[group];
  grouped_.resize(group_begins_.back());
  std::vector<std::size_t> next(group_begins_.begin(), group_begins_.end() - 1);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].group != kShared) grouped_[next[entries_[i].group]++] = static_cast<std::uint32_t>(i);
  }
}

std::uint32_t DistinctTexts::find(std::u32string_view text) const { return slots_[slot_of(text, hash_of(text))]; }

std::span<const std::uint32_t> DistinctTexts::only_of(std::uint32_t group) const {
  if (group + std::size_t{1} >= group_begins_.size()) return {};
  return std::span(grouped_).subspan(group_begins_[group], group_begins_[group + 1] - group_begins_[group]);
}

void Candidates::reset(const DistinctTexts& texts, std::uint32_t group, std::span<const std::u32string_view> own) {
  texts_ = &texts;
  of_group_ = texts.only_of(group);
  own_.clear();
  for (const std::u32string_view text : own) {
    const std::uint32_t place = texts.find(text);
    if (place == DistinctTexts::kAbsent) continue;
    const auto at = std::lower_bound(of_group_.begin(), of_group_.end(), place);
    if (at == of_group_.end() || *at != place) {
      own_.push_back(place - static_cast<std::uint32_t>(at - of_group_.begin()));
    }
  }
  std::sort(own_.begin(), own_.end());
  own_.erase(std::unique(own_.begin(), own_.end()), own_.end());
  size_ = texts.size() - of_group_.size() - own_.size();
}

std::u32string_view Candidates::operator[](std::size_t i) const {
  return (*texts_)[ith_without(of_group_, ith_without(own_, i))];
}

}  // namespace pfgen
