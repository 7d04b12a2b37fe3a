#include "pfgen/alphabet.hpp"

#include <algorithm>

namespace pfgen {
namespace {

std::vector<char32_t> by_falling_frequency(std::span<const AnswerSet> sets) {
  std::vector<std::uint32_t> counts(kEndMark + 1);
  for (const AnswerSet& set : sets) {
    for (const auto& answer : set) {
      for (const char32_t code_point : answer) ++counts[code_point];
    }
  }
  std::vector<char32_t> found;
  for (char32_t code_point = 0; code_point <= kEndMark; ++code_point) {
    if (counts[code_point] != 0) found.push_back(code_point);
  }
  std::stable_sort(found.begin(), found.end(), [&](char32_t a, char32_t b) { return counts[a] > counts[b]; });
  return found;
}

}  // namespace

Alphabet::Alphabet(std::span<const AnswerSet> sets) : Alphabet(by_falling_frequency(sets)) {}

Alphabet::Alphabet(std::span<const char32_t> code_points)
    : page_of_((kEndMark >> kPageBits) + 1), symbols_(kPageSize, kUnknown), code_points_(code_points.begin(), code_points.end()) {
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
