#include "perturbation/damaged_text.hpp"

#include <stdexcept>

#include "pfgen/perturbation.hpp"
#include "text/unicode.hpp"

namespace pfgen {
namespace {

// Whether the code point at `at`, which is not the first of the text, is a part of the character before it.
bool joins(std::u32string_view text, std::size_t at) {
  return (traits_of(text[at]) & kJoins) != 0 || text[at - 1] == kZeroWidthJoiner;
}

bool is_space(char32_t c) { return (traits_of(c) & kSpace) != 0; }

// The end of the white space that a text begins with.
std::size_t skip_space(std::u32string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_space(text[at])) {
    ++at;
    while (at < text.size() && joins(text, at)) ++at;
  }
  return at;
}

}  // namespace

void DamagedText::grow(std::size_t n) {
  if (n > kMaxPerturbedCodePoints) throw std::length_error("a damaged text would be too long");
  buffer_.resize(std::max(n, 2 * buffer_.size()));
}

bool DamagedText::is_blank() const { return skip_space(view()) == size_ - begin_; }

void DamagedText::strip() {
  begin_ += skip_space(view());
  const std::u32string_view text = view();
  std::size_t end = text.size();
  while (end > 0) {
    std::size_t start = end - 1;  // of the last character
    while (start > 0 && joins(text, start)) --start;
    if (!is_space(text[start])) break;
    end = start;
  }
  size_ = begin_ + end;
}

}  // namespace pfgen
