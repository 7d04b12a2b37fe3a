#include "index/alphabet.hpp"

#include <algorithm>

#include "system/key_table.hpp"

namespace pfgen {
namespace {

std::vector<char32_t> by_falling_frequency(std::span<const AnswerSet> sets) {
  using Counts = KeyTable<0>;
  Counts counts;
  for (const AnswerSet& set : sets) {
    for (const auto& answer : set) {
      for (const char32_t code_point : answer) ++counts[code_point];
    }
  }
  std::vector<Counts::Entry> found = counts.entries();
  std::ranges::sort(found, [](const Counts::Entry& a, const Counts::Entry& b) {
    return a.value != b.value ? a.value > b.value : a.key < b.key;
  });
  std::vector<char32_t> code_points(counts.size());
  for (std::size_t i = 0; i < code_points.size(); ++i) code_points[i] = static_cast<char32_t>(found[i].key);
  return code_points;
}

}  // namespace

Alphabet::Alphabet(std::span<const AnswerSet> sets) : Alphabet(by_falling_frequency(sets)) {}

Alphabet::Alphabet(std::span<const char32_t> code_points)
    : page_of_((kEndMark >> kPageBits) + 1),
      symbols_(kPageSize, kUnknown),
      code_points_(code_points.begin(), code_points.end()) {
  Symbol symbol = kUnknown;
  for (const char32_t code_point : code_points) {
    std::uint32_t& page = page_of_[code_point >> kPageBits];
    if (page == 0) {
      page = static_cast<std::uint32_t>(symbols_.size());
      symbols_.resize(symbols_.size() + kPageSize, kUnknown);
    }
    symbols_[page + (code_point & (kPageSize - 1))] = ++symbol;
  }
}

}  // namespace pfgen
