// The tokenizers that separate words by white space and punctuation. sacrebleu's regular expressions replace text in
// several passes; here one pass decides where they would put spaces.
#include <algorithm>
#include <array>
#include <iterator>

#include "references/replacing.hpp"
#include "references/tokens.hpp"
#include "text/unicode.hpp"

namespace pfgen {
namespace {

enum class Kind : std::uint8_t {
  kNothing,  // before the first character
  kInWord,
  kSpace,
  kDigit,  // a mark between two digits is a part of their word
  kMark,
  kAlone,  // always a token of its own
  kDash,   // a token of its own behind a digit
};

// What the expressions of 13a and zh name, for ASCII; `'` is a part of words.
constexpr Kind ascii_kind(char32_t c) {
  if (c == U' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F)) return Kind::kSpace;
  if (c >= U'0' && c <= U'9') return Kind::kDigit;
  if (c == U'.' || c == U',') return Kind::kMark;
  if (c == U'-') return Kind::kDash;
  const bool is_word = (c >= U'A' && c <= U'Z') || (c >= U'a' && c <= U'z') || c == U'\'' || c < U' ' || c == 0x7F;
  return is_word ? Kind::kInWord : Kind::kAlone;
}

constexpr auto kAsciiKinds = [] {
  std::array<Kind, 0x80> kinds{};
  for (std::size_t c = 0; c < kinds.size(); ++c) kinds[c] = ascii_kind(static_cast<char32_t>(c));
  return kinds;
}();

Kind kind_of_13a(char32_t c) {
  if (c < kAsciiKinds.size()) return kAsciiKinds[c];
  return is_space(c) ? Kind::kSpace : Kind::kInWord;
}

struct Range {
  char32_t first;
  char32_t last;
};

// The code points that `zh` separates. Two of sacrebleu's ranges are meant to be beyond U+FFFF but have a digit too
// much for Python's \u, and mean U+2001 to U+2A6D instead.
constexpr std::array kChineseRanges{
    Range{0x2001, 0x2A6D}, Range{0x2E80, 0x2FDF}, Range{0x2FF0, 0x303F}, Range{0x3100, 0x312F}, Range{0x31A0, 0x31BF},
    Range{0x31C0, 0x31EF}, Range{0x3200, 0x33FF}, Range{0x3400, 0x4DB5}, Range{0x4E00, 0x9FBB}, Range{0xF900, 0xFA2D},
    Range{0xFA30, 0xFA6A}, Range{0xFA70, 0xFAD9}, Range{0xFE10, 0xFE1F}, Range{0xFE30, 0xFE4F}, Range{0xFF00, 0xFFEF},
};

Kind kind_of_zh(char32_t c) {
  if (c < kChineseRanges.front().first) return kind_of_13a(c);
  const auto ends_before = [](const Range& range, char32_t value) { return range.last < value; };
  const auto* const range = std::lower_bound(kChineseRanges.begin(), kChineseRanges.end(), c, ends_before);
  if (range == kChineseRanges.end() || c < range->first) return kind_of_13a(c);
  return is_space(c) ? Kind::kSpace : Kind::kAlone;
}

Kind kind_of_intl(char32_t c) {
  const Traits traits = traits_of(c);
  if ((traits & kSpace) != 0) return Kind::kSpace;
  if ((traits & kNumber) != 0) return Kind::kDigit;
  if ((traits & kPunctuation) != 0) return Kind::kMark;
  return (traits & kSymbol) != 0 ? Kind::kAlone : Kind::kInWord;
}

Kind kind_of_word(char32_t c) { return is_space(c) ? Kind::kSpace : Kind::kInWord; }

// Separates a mark unless it is behind a digit and before one; a mark at an edge of the text has something on that side
// only if `is_padded`. Of marks in sequence, the expressions take the first with the character before it, so that the
// second has nothing before it, and so on.
template <Kind (*kKindOf)(char32_t)>
void split(std::u32string_view text, bool is_padded, Vocabulary& vocabulary, std::vector<TokenId>& out) {
  std::size_t begin = 0;
  const auto end_word = [&](std::size_t end) {
    if (begin < end) out.push_back(vocabulary.number_of(text.substr(begin, end - begin)));
  };
  Kind before = is_padded ? Kind::kSpace : Kind::kNothing;
  bool is_taken = false;  // whether the character before is a mark that was taken with the one before it
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Kind kind = kKindOf(text[i]);
    if (kind == Kind::kInWord) {
      before = kind;
      is_taken = false;
      continue;
    }
    bool is_alone = kind == Kind::kAlone || (kind == Kind::kDash && before == Kind::kDigit);
    if (kind == Kind::kMark) {
      is_taken = before != Kind::kDigit && before != Kind::kNothing && !is_taken;
      const bool is_last = i + 1 == text.size();
      is_alone = is_taken || (is_last ? is_padded : kKindOf(text[i + 1]) != Kind::kDigit);
    } else {
      is_taken = false;
    }
    if (is_alone || kind == Kind::kSpace) {
      end_word(i);
      begin = i + 1;
      if (is_alone) out.push_back(vocabulary.number_of(text.substr(i, 1)));
    }
    before = kind;
  }
  end_word(text.size());
}

void split_13a(std::u32string_view text, Vocabulary& vocabulary, std::vector<TokenId>& out) {
  // A newline is white space for what follows, and need not become a space.
  std::uint32_t n_replaced = 0;  // a sum without branches, which compilers vectorise
  for (const char32_t c : text) n_replaced += (c == U'&' ? 1U : 0U) + (c == U'<' ? 1U : 0U) + (c == U'\n' ? 1U : 0U);
  if (n_replaced == 0) {
    return split<kind_of_13a>(text, true, vocabulary, out);
  }
  std::u32string replaced(text);
  replace_all(replaced, U"<skipped>", U"");
  replace_all(replaced, U"-\n", U"");
  replace_all(replaced, U"&quot;", U"\"");
  replace_all(replaced, U"&amp;", U"&");
  replace_all(replaced, U"&lt;", U"<");
  replace_all(replaced, U"&gt;", U">");
  split<kind_of_13a>(replaced, true, vocabulary, out);
}

// U+0130 becomes `i` and a combining dot, which ends the word.
void split_rouge(std::u32string_view text, Vocabulary& vocabulary, std::vector<TokenId>& out) {
  constexpr char32_t kKelvin = 0x212A;
  constexpr char32_t kDottedI = 0x130;
  std::u32string lowered(text);
  std::size_t begin = 0;
  const auto end_word = [&](std::size_t end) {
    if (begin < end) out.push_back(vocabulary.number_of({&lowered[begin], end - begin}));
  };
  for (std::size_t i = 0; i < lowered.size(); ++i) {
    const char32_t c = lowered[i] == kKelvin ? U'k' : lowered[i] == kDottedI ? U'i' : ascii_lower(lowered[i]);
    const bool is_in_word = (c >= U'a' && c <= U'z') || (c >= U'0' && c <= U'9');
    lowered[i] = c;
    if (is_in_word && text[i] != kDottedI) continue;
    end_word(i + (is_in_word ? 1 : 0));
    begin = i + 1;
  }
  end_word(lowered.size());
}

bool is_article(std::u32string_view word) { return word == U"a" || word == U"an" || word == U"the"; }

// An article is what the expression \b(a|an|the)\b finds, so it may be a part of a word, as in `l’a`.
void split_squad(std::u32string_view text, Vocabulary& vocabulary, std::vector<TokenId>& out) {
  std::u32string kept(text);
  lower(kept);
  std::erase_if(kept, is_ascii_punctuation);
  const auto is_alphanumeric = [](char32_t c) { return (traits_of(c) & kAlphanumeric) != 0; };
  char32_t* const last = kept.data() + kept.size();
  for (char32_t* begin = kept.data(); begin != last;) {
    begin = std::find_if(begin, last, is_alphanumeric);
    char32_t* const end = std::find_if_not(begin, last, is_alphanumeric);
    if (is_article({begin, static_cast<std::size_t>(end - begin)})) std::fill(begin, end, U' ');
    begin = end;
  }
  split<kind_of_word>(kept, true, vocabulary, out);
}

}  // namespace

void tokenize(Tokenizer tokenizer, std::u32string_view text, Vocabulary& vocabulary, std::vector<TokenId>& out) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  switch (tokenizer) {
    case Tokenizer::kNone:
      return split<kind_of_word>(text, true, vocabulary, out);
    case Tokenizer::kChar:
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (!is_space(text[i])) out.push_back(vocabulary.number_of(text.substr(i, 1)));
      }
      return;
    case Tokenizer::k13a:
      return split_13a(text, vocabulary, out);
    case Tokenizer::kIntl:
      return split<kind_of_intl>(text, false, vocabulary, out);
    case Tokenizer::kZh:
      while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
      return split<kind_of_zh>(text, false, vocabulary, out);
    case Tokenizer::kRouge:
      return split_rouge(text, vocabulary, out);
    case Tokenizer::kSquad:
      return split_squad(text, vocabulary, out);
  }
}

std::vector<std::u32string> tokens_of(Tokenizer tokenizer, std::u32string_view text) {
  Vocabulary vocabulary;
  std::vector<TokenId> numbers;
  tokenize(tokenizer, text, vocabulary, numbers);
  std::vector<std::u32string> tokens;
  tokens.reserve(numbers.size());
  for (const TokenId number : numbers) tokens.emplace_back(vocabulary[number]);
  return tokens;
}

}  // namespace pfgen
