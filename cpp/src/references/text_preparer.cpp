#include "references/text_preparer.hpp"

#include <algorithm>

namespace pfgen {
namespace {

// Appends the words of chrF++: a punctuation mark at the end of a word, or else at its start, is a word of its own.
void split_chrf_words(std::u32string_view text, Vocabulary& vocabulary, std::vector<TokenId>& words) {
  for (std::size_t begin = 0; begin < text.size();) {
    if (is_space(text[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    while (end < text.size() && !is_space(text[end])) ++end;
    std::size_t cut = end;
    if (end - begin > 1) {
      if (is_ascii_punctuation(text[end - 1])) {
        cut = end - 1;
      } else if (is_ascii_punctuation(text[begin])) {
        cut = begin + 1;
      }
    }
    words.push_back(vocabulary.number_of(text.substr(begin, cut - begin)));
    if (cut < end) words.push_back(vocabulary.number_of(text.substr(cut, end - cut)));
    begin = end;
  }
}

}  // namespace

TextPreparer::TextPreparer(const ReferenceOptions& options, std::span<const Wanted> wanted)
    : is_lower_case_(options.is_lower_case) {
  for (const Wanted& request : wanted) {
    const bool reads_sentences = request.metric == ReferenceMetric::kRougeLsum;
    if (reads_sentences) sentence_place_ = request.tokens;
    const auto add = [this](std::size_t place) {
      if (std::ranges::find(places_, place) == places_.end()) places_.push_back(place);
    };
    if (!reads_sentences || request.tokens == kOwnTokens) add(request.tokens);
    if (request.metric == ReferenceMetric::kChrfWords) add(kChrfWords);
    if (request.metric == ReferenceMetric::kBleuRouge) add(place_of_rouge(options));
  }
}

void TextPreparer::prepare(const TextView& text, const OwnTokens& own, std::size_t number, PreparedText& out) {
  decode(text, kLongestReferenceText, code_points_);
  std::u32string_view code_points(code_points_.data(), code_points_.size());
  if (is_lower_case_) {
    lowered_ = code_points;
    lower(lowered_);
    code_points = lowered_;
  }
  for (const std::size_t place : places_) {
    out.tokens[place].clear();
    if (place == kOwnTokens) {
      take_own_tokens(own, number, out);
    } else {
      add_tokens(code_points, place, out.tokens[place]);
    }
  }
  if (sentence_place_ < kOwnTokens) {
    tokenize_sentences(static_cast<Tokenizer>(sentence_place_), code_points, vocabulary_, out.sentences);
  }
}

void TextPreparer::add_tokens(std::u32string_view text, std::size_t place, std::vector<TokenId>& out) {
  if (place == kChrfWords) {
    split_chrf_words(text, vocabulary_, out);
  } else if (place == kAllCharacters || place == static_cast<std::size_t>(Tokenizer::kChar)) {
    for (const char32_t c : text) {
      if (place == kAllCharacters || !is_space(c)) out.push_back(characters_.number_of(c));
    }
  } else {
    tokenize(static_cast<Tokenizer>(place), text, vocabulary_, out);
  }
}

void TextPreparer::take_own_tokens(const OwnTokens& own, std::size_t number, PreparedText& out) const {
  const auto tokens = own.texts[number];
  out.tokens[kOwnTokens].assign(tokens.begin(), tokens.end());
  if (sentence_place_ != kOwnTokens) return;
  out.sentences.tokens.clear();
  out.sentences.ends.clear();
  for (const std::uint32_t token : own.sentences[number]) {
    if (token == OwnTokens::kEndOfSentence) {
      out.sentences.ends.push_back(out.sentences.tokens.size());
    } else {
      out.sentences.tokens.push_back(token);
    }
  }
}

}  // namespace pfgen
