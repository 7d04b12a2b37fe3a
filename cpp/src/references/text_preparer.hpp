// Turns texts into the tokens that the metrics need.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "pfgen/reference_scorer.hpp"
#include "references/comparison.hpp"

namespace pfgen {

// Numbers code points from 0 in the order of their first occurrence.
class CharacterNumbers {
 public:
  std::uint32_t number_of(char32_t c) {
    std::uint16_t& page = pages_[c / kPageSize];
    if (page == 0) {
      numbers_.resize(numbers_.size() + kPageSize);
      page = static_cast<std::uint16_t>(numbers_.size() / kPageSize);
    }
    std::uint32_t& number = numbers_[(page - std::size_t{1}) * kPageSize + c % kPageSize];
    if (number == 0) {
      seen_.push_back(c);
      number = static_cast<std::uint32_t>(seen_.size());
    }
    return number - 1;
  }

  void clear() {
    for (const char32_t c : seen_) numbers_[(pages_[c / kPageSize] - std::size_t{1}) * kPageSize + c % kPageSize] = 0;
    seen_.clear();
  }

 private:
  static constexpr std::size_t kPageSize = 256;

  std::vector<std::uint16_t> pages_ = std::vector<std::uint16_t>(0x110000 / kPageSize);  // from 1; 0 if it is missing
  std::vector<std::uint32_t> numbers_;                                                   // plus 1; 0 if unseen
  std::vector<char32_t> seen_;
};

class TextPreparer {
 public:
  TextPreparer(const ReferenceOptions& options, std::span<const Wanted> wanted);

  // Forgets the numbers of tokens. Texts that are compared must be prepared without a call between them.
  void clear() {
    vocabulary_.clear();
    characters_.clear();
  }

  // Replaces `out` with the tokens of the text, which is number `number` in `own`.
  void prepare(const TextView& text, const OwnTokens& own, std::size_t number, PreparedText& out);

 private:
  void add_tokens(std::u32string_view text, std::size_t place, std::vector<TokenId>& out);
  void take_own_tokens(const OwnTokens& own, std::size_t number, PreparedText& out) const;

  bool is_lower_case_;
  std::vector<std::size_t> places_;  // that some metric needs
  std::size_t sentence_place_ = kTokenPlaces;
  std::vector<char32_t> code_points_;
  std::u32string lowered_;
  Vocabulary vocabulary_;
  CharacterNumbers characters_;
};

}  // namespace pfgen
