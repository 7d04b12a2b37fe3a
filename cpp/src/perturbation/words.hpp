// Sentences, words and terms of a text.
#pragma once

#include <vector>

#include "perturbation/original.hpp"

namespace pfgen {

// Replaces `sentences`; together they are the whole text.
void find_sentences(const Original& text, std::vector<Span>& sentences);

// A span without the white space at its ends; its beginning if it is blank.
Span stripped(const Original& text, Span span);

// The position of a term, or in English of a word that may be a term, cut at its first apostrophe. Only terms of the
// same class replace each other.
struct TermPlace {
  Span span;
  Script script;  // kKatakana or kKanji in Japanese, kAlphanumeric in English
  bool is_term;   // false of English words that only may equal a term
};

class WordFinder {
 public:
  // Roughly phrases in Japanese: a run of content with the hiragana after it.
  void find_words(const Original& text, std::vector<Span>& words);
  void find_terms(const Original& text, std::vector<TermPlace>& places);

 private:
  void find_japanese_words(const Original& text, std::vector<Span>& words);
  void find_japanese_terms(const Original& text, std::vector<TermPlace>& places);
  void find_english_terms(const Original& text, std::vector<TermPlace>& places);

  std::vector<Script> scripts_;
  std::vector<Span> words_;
  std::vector<Span> sentences_;
};

}  // namespace pfgen
