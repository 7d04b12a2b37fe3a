// Distinct texts of groups in their order, and the texts that a text of some group may take. Finding these texts does
// not read all groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pfgen {

std::uint32_t hash_of(std::u32string_view text);

class DistinctTexts {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  static constexpr std::uint32_t kShared = 0xFFFFFFFF;  // instead of a group: in several groups or in no group

  void add(std::u32string_view text, std::uint32_t group);
  // After the last text. Nothing else may be asked before.
  void sort();

  std::size_t size() const noexcept { return entries_.size(); }
  std::u32string_view operator[](std::size_t index) const { return view(entries_[index]); }
  // The place of a text, or kAbsent.
  std::uint32_t find(std::u32string_view text) const;
  // The one group that has the text, or kShared.
  std::uint32_t group(std::size_t index) const { return entries_[index].group; }
  // The places of the texts that only this group has, ascending.
  std::span<const std::uint32_t> only_of(std::uint32_t group) const;

 private:
  struct Entry {
    std::size_t begin;
    std::uint32_t length;
    std::uint32_t group;
    std::uint32_t hash;
  };

  std::u32string_view view(const Entry& entry) const { return {&code_points_[entry.begin], entry.length}; }
  std::size_t slot_of(std::u32string_view text, std::uint32_t hash) const;
  void fill_slots(std::size_t n_slots);

  std::vector<char32_t> code_points_{0};  // one, so that an empty text has a place
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;    // places by hash; kAbsent in empty slots
  std::vector<std::uint32_t> grouped_;  // the places of texts that only one group has, by group
  std::vector<std::size_t> group_begins_;
};

// The texts that a text may take: texts of other groups that it does not contain itself. A number selects one of them.
class Candidates {
 public:
  // `own` are the texts that the text contains, in any order.
  void reset(const DistinctTexts& texts, std::uint32_t group, std::span<const std::u32string_view> own);

  std::size_t size() const noexcept { return size_; }
  std::u32string_view operator[](std::size_t i) const;

 private:
  const DistinctTexts* texts_ = nullptr;
  std::size_t size_ = 0;
  std::span<const std::uint32_t> of_group_;  // left out
  std::vector<std::uint32_t> own_;           // left out too: numbers among those that the group leaves
};

}  // namespace pfgen
