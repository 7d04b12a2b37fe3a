// A text with its characters. At each code point, patterns see the first code point of the character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pfgen/perturbation.hpp"
#include "text/unicode.hpp"

namespace pfgen {

// A piece of a text, from code point to code point.
struct Span {
  std::uint32_t begin;
  std::uint32_t end;
};

class Original {
 public:
  // Returns kNoError, or the byte offset of the first invalid UTF-8 sequence.
  std::size_t read(const TextView& text, Language language);
  void read(std::u32string_view text, Language language);

  Language language() const noexcept { return language_; }
  bool is_japanese() const noexcept { return language_ == Language::kJapanese; }
  std::size_t size() const noexcept { return code_points_.size(); }
  std::u32string_view view() const noexcept { return {code_points_.data(), code_points_.size()}; }
  std::u32string_view view(Span span) const { return view().substr(span.begin, span.end - span.begin); }

  // The code points that patterns are matched against.
  const char32_t* bases() const noexcept { return bases_.data(); }
  char32_t base(std::size_t at) const { return bases_[at]; }
  // Properties of the base; kJoins is set where the code point joins the one before it.
  Traits traits(std::size_t at) const { return traits_[at]; }
  bool is_space(std::size_t at) const { return (traits_[at] & kSpace) != 0; }
  bool is_alphanumeric(std::size_t at) const { return (traits_[at] & kAlphanumeric) != 0; }
  bool is_capital(std::size_t at) const { return (traits_[at] & kCapital) != 0; }
  bool joins(std::size_t at) const { return (traits_[at] & kJoins) != 0; }
  // Whether a code point of this range joins the one before it.
  bool joins_within(std::size_t begin, std::size_t end) const {
    while (begin < end && !joins(begin)) ++begin;
    return begin < end;
  }

  std::size_t n_characters() const noexcept { return starts_.size() - 1; }
  Span character(std::size_t i) const { return {starts_[i], starts_[i + 1]}; }
  // The end of the character that begins at `at`.
  std::size_t character_end(std::size_t at) const;

  // The classes of the code points, in which `ー` has the class of the kana before it.
  void find_scripts(std::vector<Script>& scripts) const;

 private:
  void read_characters(Language language);

  Language language_ = Language::kEnglish;
  std::vector<char32_t> code_points_;
  std::vector<char32_t> bases_;
  std::vector<Traits> traits_;
  std::vector<std::uint32_t> starts_;  // of each character, then the size of the text
};

}  // namespace pfgen
