// The lines of a file of trials, with the texts of their questions and answers.
//
// Plain JSON is read here, strictly: every JSON parser would give these values. All other lines (invalid ones, and
// oddities such as lone surrogates or NaN) are left to the caller. Texts without escapes are views of the content,
// which the caller keeps alive.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pfgen/text.hpp"

namespace pfgen {

struct TrialLine {
  std::size_t number;  // in the file, from 0
  std::string_view content;
  bool is_read;  // otherwise the other members are unset
  TextView question;
  TextView answer;
  std::size_t answer_length;  // code points
};

struct TrialLines {
  explicit TrialLines(std::string_view content);

  std::vector<TrialLine> lines;       // all lines that are not blank
  std::deque<std::string> unescaped;  // the texts that are not views of the content
};

// Keys and values, in UTF-8, of a line that contains only texts; nothing for other lines.
std::optional<std::vector<std::pair<std::string, std::string>>> texts_of(std::string_view line);

}  // namespace pfgen
