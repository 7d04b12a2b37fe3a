// Texts as sequences of tokens: the tokenizers of sacrebleu, of rouge_score and of SQuAD's evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pfgen {

using TokenId = std::uint32_t;

// Numbers tokens from 0 in the order of their first occurrence. Equal tokens have equal numbers, different ones never.
class Vocabulary {
 public:
  TokenId number_of(std::u32string_view token);
  // The view is valid until the next call of number_of() or clear().
  std::u32string_view operator[](TokenId token) const;
  std::size_t size() const noexcept { return entries_.size(); }
  // Takes as long as the tokens are many, and keeps the memory.
  void clear();

 private:
  struct Entry {
    std::size_t end;  // in characters_; the token begins where the one before it ends
    std::uint32_t hash;
    std::uint32_t slot;
  };

  std::uint32_t find_slot(std::u32string_view token, std::uint32_t hash) const;
  void grow();

  std::vector<Entry> entries_;
  std::vector<TokenId> slots_;  // a hash table of numbers
  std::u32string characters_;   // of all tokens
};

enum class Tokenizer : std::uint8_t {
  kNone,  // sacrebleu's `none`: the words between white space
  kChar,  // sacrebleu's `char`: the characters that are not white space
  k13a,
  kIntl,
  kZh,
  kRouge,  // rouge_score's, without stemming: runs of a-z and 0-9 in lower case
  kSquad,  // words in lower case without ASCII punctuation and articles
};

// Appends the tokens of `text`, which are the words of the tokenizer's output between white space. sacrebleu's BLEU
// removes white space at the end of a text before it calls its tokenizer; this function does not.
void tokenize(Tokenizer tokenizer, std::u32string_view text, Vocabulary& vocabulary, std::vector<TokenId>& out);

// The text without white space at its end, as str.rstrip() returns it.
std::u32string_view without_space_at_end(std::u32string_view text);

// Changes the text as str.lower() does, by Unicode 13.0.
void lower(std::u32string& text);

}  // namespace pfgen
