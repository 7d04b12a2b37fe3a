#include "perturbation/words.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kShortestKatakanaTerm = 3;
constexpr std::size_t kShortestKanjiTerm = 2;

Span span_of(std::size_t begin, std::size_t end) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

bool is_apostrophe(char32_t c) { return c == U'\'' || c == U'’'; }

bool is_content(Script script) { return script != Script::kOther && script != Script::kHiragana; }

void find_english_words(const Original& text, std::vector<Span>& words) {
  const std::size_t n = text.size();
  const auto run_end = [&](std::size_t at) {
    while (at < n && text.is_alphanumeric(at)) ++at;
    return at;
  };
  for (std::size_t begin = 0; begin < n; ++begin) {
    if (!text.is_alphanumeric(begin)) continue;
    std::size_t end = run_end(begin);
    while (end + 1 < n && (is_apostrophe(text.base(end)) || text.base(end) == U'-') && text.is_alphanumeric(end + 1)) {
      end = run_end(end + 1);
    }
    words.push_back(span_of(begin, end));
    begin = end;
  }
}

// A word with a capital letter that is not caused by the beginning of a sentence.
bool is_english_term(const Original& text, Span span, bool is_first) {
  if (!text.is_capital(span.begin) || text.view(span) == U"I") return false;
  const std::size_t second = text.character_end(span.begin);
  return !is_first || (second < span.end && text.is_capital(second));
}

}  // namespace

void WordFinder::find_words(const Original& text, std::vector<Span>& words) {
  words.clear();
  if (text.is_japanese()) {
    find_japanese_words(text, words);
  } else {
    find_english_words(text, words);
  }
}

void WordFinder::find_japanese_words(const Original& text, std::vector<Span>& words) {
  text.find_scripts(scripts_);
  const std::size_t n = text.size();
  std::size_t at = 0;
  while (at < n) {
    const std::size_t begin = at;
    while (at < n && is_content(scripts_[at])) ++at;
    while (at < n && scripts_[at] == Script::kHiragana) ++at;
    if (at > begin) {
      words.push_back(span_of(begin, at));
    } else {
      ++at;
    }
  }
}

void WordFinder::find_terms(const Original& text, std::vector<TermPlace>& places) {
  places.clear();
  if (text.is_japanese()) {
    find_japanese_terms(text, places);
  } else {
    find_english_terms(text, places);
  }
}

void WordFinder::find_japanese_terms(const Original& text, std::vector<TermPlace>& places) {
  text.find_scripts(scripts_);
  std::size_t begin = 0;
  for (std::size_t at = 1; at <= scripts_.size(); ++at) {
    if (at < scripts_.size() && scripts_[at] == scripts_[begin]) continue;
    const Script script = scripts_[begin];
    const std::size_t length = at - begin;
    if ((script == Script::kKatakana && length >= kShortestKatakanaTerm) ||
        (script == Script::kKanji && length >= kShortestKanjiTerm)) {
      places.push_back({span_of(begin, at), script, true});
    }
    begin = at;
  }
}

void WordFinder::find_english_terms(const Original& text, std::vector<TermPlace>& places) {
  words_.clear();
  find_english_words(text, words_);
  find_sentences(text, sentences_);
  std::size_t sentence = 0;
  bool is_first = true;
  for (const Span word : words_) {
    while (sentences_[sentence].end <= word.begin) {
      ++sentence;
      is_first = true;
    }
    std::size_t end = word.begin;
    while (end < word.end && !is_apostrophe(text.base(end))) ++end;
    const Span span = span_of(word.begin, end);
    places.push_back({span, Script::kAlphanumeric, is_english_term(text, span, is_first)});
    is_first = false;
  }
}

}  // namespace pfgen
