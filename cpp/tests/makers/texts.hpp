// Texts, and the views of them that the core takes.
#pragma once

#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "pfgen/error.hpp"
#include "pfgen/question_index.hpp"
#include "pfgen/text.hpp"

namespace pfgen::test {

using Text = std::u32string;
using TextRef = std::u32string_view;
using Sets = std::vector<std::vector<Text>>;  // the reference answers of each set

// So many code points in their order.
inline Text code_points_from(char32_t first, std::size_t n) {
  Text text(n, first);
  std::iota(text.begin(), text.end(), first);
  return text;
}

inline TextView view(TextRef text) { return {text.data(), text.size(), Encoding::kUcs4}; }
inline TextView view(const std::vector<unsigned char>& bytes) { return {bytes.data(), bytes.size(), Encoding::kUtf8}; }

inline std::string_view bytes_of(const TextView& text) { return {static_cast<const char*>(text.data), text.n_units}; }

inline const std::vector<unsigned char> kInvalidBytes{'a', 0xFF};
inline const TextView kInvalid = view(kInvalidBytes);

// The row and the byte of the InvalidAnswer that an action throws; kNoError if it throws nothing.
template <class Action>
std::pair<std::size_t, std::size_t> invalid_at(const Action& action) {
  try {
    action();
  } catch (const InvalidAnswer& error) {
    return {error.row, error.byte};
  }
  return {kNoError, kNoError};
}

inline std::vector<TextView> views_of(const std::vector<Text>& texts) {
  std::vector<TextView> all;
  for (const Text& text : texts) all.push_back(view(text));
  return all;
}

inline ReferenceSets views(const Sets& sets) {
  ReferenceSets all;
  for (const auto& set : sets) all.push_back(views_of(set));
  return all;
}

inline void append_utf8(char32_t c, std::vector<unsigned char>& out) {
  constexpr std::array<unsigned, 4> kLead{0x00, 0xC0, 0xE0, 0xF0};
  const unsigned n_more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  out.push_back(static_cast<unsigned char>(kLead[n_more] | c >> (6 * n_more)));
  for (unsigned i = n_more; i-- > 0;) out.push_back(static_cast<unsigned char>(0x80 | (c >> (6 * i) & 0x3F)));
}

inline std::vector<unsigned char> utf8(TextRef text) {
  std::vector<unsigned char> bytes;
  for (const char32_t c : text) append_utf8(c, bytes);
  return bytes;
}

}  // namespace pfgen::test
