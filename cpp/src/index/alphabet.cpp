#include "index/alphabet.hpp"

#include <algorithm>

#include "formulas/truthfulness.hpp"

namespace pfgen {
namespace {

std::vector<char32_t> by_falling_frequency(std::span<const AnswerSet> sets) {
  constexpr std::size_t kPage = 256;
  std::vector<std::vector<std::uint32_t>> pages(kEndMark / kPage + 1);  // of counts; empty until a code point occurs
  std::vector<char32_t> distinct;
  for (const AnswerSet& set : sets) {
    for (const auto& answer : set) {
      for (const char32_t code_point : answer) {
        auto& page = pages[code_point / kPage];
        if (page.empty()) page.resize(kPage);
        if (page[code_point % kPage]++ == 0) distinct.push_back(code_point);
      }
    }
  }
  const auto count = [&](char32_t code_point) { return pages[code_point / kPage][code_point % kPage]; };
  std::ranges::sort(distinct,
                    [&](char32_t a, char32_t b) { return count(a) != count(b) ? count(a) > count(b) : a < b; });
  return distinct;
}

}  // namespace

Alphabet::Alphabet(std::span<const AnswerSet> sets) : Alphabet(by_falling_frequency(sets)) {}

Alphabet::Alphabet(std::span<const char32_t> code_points)
    : page_of_((kEndMark >> kPageBits) + 1),
      entries_(kPageSize, Entry(true, true)),
      code_points_(code_points.begin(), code_points.end()) {
  for (const char32_t c : kSkipped) place_of(c) = Entry(!is_skipped(c, true), !is_skipped(c, false));
  Symbol symbol = kUnknown;
  for (const char32_t c : code_points) {
    Entry& entry = place_of(c);
    entry = entry.with(++symbol);
  }
}

Alphabet::Entry& Alphabet::place_of(char32_t code_point) {
  std::uint32_t& page = page_of_[code_point >> kPageBits];
  if (page == 0) {
    page = static_cast<std::uint32_t>(entries_.size());
    entries_.resize(entries_.size() + kPageSize, entries_.front());
  }
  return entries_[page + (code_point & (kPageSize - 1))];
}

}  // namespace pfgen
