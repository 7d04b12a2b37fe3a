// What holds for every text that is read as profile normalised reads it (docs/scoring.md, section 10).
#pragma once

#include <algorithm>

#include "makers/texts.hpp"
#include "pfgen/normalised_text.hpp"

namespace pfgen::test {

inline Text units_of(TextRef text, Gaps gaps = Gaps::kNothing) {
  NormalisedText read(gaps);
  read.read(view(text), kNoError);
  return {read.units().begin(), read.units().end()};
}

// Whether the prefixes of a text have as many units as texts of their own, and the longest prefix within each limit is
// found, whether the text was read to its end or to that limit.
inline bool prefixes_follow(const Text& text, Gaps gaps) {
  NormalisedText whole(gaps);
  NormalisedText limited(gaps);
  whole.read(view(text), kNoError);
  std::vector<std::size_t> n_units;
  for (std::size_t n = 0; n <= text.size(); ++n) {
    n_units.push_back(units_of(TextRef(text).substr(0, n), gaps).size());
    if (whole.form(0).position(n) != n_units[n]) return false;
  }
  for (std::size_t limit = 0; limit <= n_units.back(); ++limit) {
    std::size_t longest = text.size();
    while (n_units[longest] > limit) --longest;
    limited.read(view(text), limit);
    const auto is_start = [&](std::span<const char32_t> units) {
      return units.size() >= std::min(limit + 1, n_units.back()) &&
             std::ranges::equal(units, whole.units().first(units.size()));
    };
    if (whole.form(0).cut(limit).size() != longest || limited.form(0).cut(limit).size() != longest) return false;
    if (!is_start(limited.units())) return false;
  }
  const TextRef composed = whole.form(2).cut(n_units.back());
  return std::ranges::equal(units_of(composed, gaps), whole.units());
}

}  // namespace pfgen::test
