// The tokenizers of sacrebleu, of rouge_score and of SQuAD's evaluation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pfgen {

enum class Tokenizer : std::uint8_t {
  kNone,  // sacrebleu's `none`: the words between white space
  kChar,  // sacrebleu's `char`: the characters that are not white space
  k13a,
  kIntl,
  kZh,
  kRouge,  // rouge_score's, without stemming: runs of a-z and 0-9 in lower case
  kSquad,  // words in lower case without ASCII punctuation and articles
};

// The tokens of `text`: the words of the tokenizer's output between white space. White space at the end of the text is
// removed first, as sacrebleu's BLEU does.
std::vector<std::u32string> tokens_of(Tokenizer tokenizer, std::u32string_view text);

// Changes the text as str.lower() does, by Unicode 13.0.
void lower(std::u32string& text);

}  // namespace pfgen
