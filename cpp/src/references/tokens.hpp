// Texts as sequences of numbers of tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pfgen/tokenizer.hpp"
#include "text/unicode.hpp"
#include "text/vocabulary.hpp"

namespace pfgen {

inline bool is_ascii_punctuation(char32_t c) {
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}

// Appends the tokens of `text`.
void tokenize(Tokenizer tokenizer, std::u32string_view text, Vocabulary& vocabulary, std::vector<TokenId>& out);

}  // namespace pfgen
