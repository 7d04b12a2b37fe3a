#include "perturbation/words.hpp"

#include <algorithm>
#include <string_view>

#include "perturbation/tables.hpp"
#include "text/unicode.hpp"

namespace pfgen {
namespace {

bool is_one_of(std::u32string_view set, char32_t c) { return set.find(c) != std::u32string_view::npos; }

constexpr std::u32string_view kJapaneseEnds = U"。．！？!?\n";
constexpr std::u32string_view kJapaneseClosers = U"」』）)]”’\"'";
constexpr std::u32string_view kEnglishEnds = U".!?";
constexpr std::u32string_view kEnglishClosers = U"\"')]”’";
constexpr std::u32string_view kEnglishOpeners = U"\"“([";
constexpr std::u32string_view kBeforeAbbreviations = U"(\"“[";

bool is_ascii_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

bool is_blank(const Original& text, Span span) {
  for (std::size_t at = span.begin; at < span.end; ++at) {
    if (!text.is_space(at)) return false;
  }
  return true;
}

// Collects pieces as sentences. A piece of only white space belongs to the previous piece, or to the next piece if
// there is no previous piece.
class Pieces {
 public:
  Pieces(const Original& text, std::vector<Span>& sentences) : text_(text), sentences_(sentences) {}

  void end_at(std::size_t end) {
    const Span piece{begin_, static_cast<std::uint32_t>(end)};
    begin_ = piece.end;
    const bool piece_is_blank = is_blank(text_, piece);
    if (!sentences_.empty() && (piece_is_blank || last_is_blank_)) {
      sentences_.back().end = piece.end;
      last_is_blank_ &= piece_is_blank;
    } else {
      sentences_.push_back(piece);
      last_is_blank_ = piece_is_blank;
    }
  }

  void finish() {
    if (begin_ < text_.size()) end_at(text_.size());
  }

 private:
  const Original& text_;
  std::vector<Span>& sentences_;
  std::uint32_t begin_ = 0;
  bool last_is_blank_ = false;
};

void find_japanese_sentences(const Original& text, Pieces& pieces) {
  const std::size_t n = text.size();
  std::size_t at = 0;
  while (at < n) {
    if (!is_one_of(kJapaneseEnds, text.base(at))) {
      ++at;
      continue;
    }
    while (at < n && is_one_of(kJapaneseEnds, text.base(at))) ++at;
    while (at < n && is_one_of(kJapaneseClosers, text.base(at))) ++at;
    pieces.end_at(at);
  }
  pieces.finish();
}

class EnglishSentences {
 public:
  EnglishSentences(const Original& text, Pieces& pieces) : text_(text), n_(text.size()), pieces_(pieces) {}

  void find() {
    std::size_t at = 0;
    while (at < n_) {
      if (text_.is_space(at)) {
        at = text_.base(at) == U'\n' ? newlines(at) : at + 1;
        run_begin_ = core_begin_ = at;
      } else {
        at = is_one_of(kEnglishEnds, text_.base(at)) ? end_marks(at) : at + 1;
      }
    }
    pieces_.finish();
  }

 private:
  std::size_t newlines(std::size_t at) {
    while (at < n_ && text_.base(at) == U'\n') ++at;
    pieces_.end_at(at);
    return at;
  }

  // Nothing of a run of end marks begins a match but the first.
  std::size_t end_marks(std::size_t begin) {
    std::size_t at = begin;
    while (at < n_ && is_one_of(kEnglishEnds, text_.base(at))) ++at;
    std::size_t end = at;
    while (end < n_ && is_one_of(kEnglishClosers, text_.base(end))) ++end;
    if (!next_may_begin(end)) return at;
    const bool is_single_point = end == begin + 1 && text_.base(begin) == U'.';
    if (!is_single_point || !is_abbreviated(end)) pieces_.end_at(end);
    return end;
  }

  bool next_may_begin(std::size_t end) const {
    std::size_t at = end;
    while (at < n_ && text_.is_space(at)) ++at;
    if (at == n_) return true;
    if (at == end) return false;
    if (is_one_of(kEnglishOpeners, text_.base(at))) ++at;
    return at < n_ && (is_ascii_capital(text_.base(at)) || is_ascii_digit(text_.base(at)));
  }

  // Whether the word before a point is an abbreviation or an initial; `end` is the position after the point.
  bool is_abbreviated(std::size_t end) {
    const std::size_t length = end - run_begin_;
    const auto initial_at = [&](std::size_t at) { return is_ascii_capital(text_.base(at)); };
    if (length == 2 && initial_at(run_begin_)) return true;
    if (length == 3 && text_.base(run_begin_) == U'(' && initial_at(run_begin_ + 1)) return true;
    // Found once for each run, so that a run of any number of points takes linear time.
    while (core_begin_ < end && is_one_of(kBeforeAbbreviations, text_.base(core_begin_))) ++core_begin_;
    const std::u32string_view run(text_.bases() + core_begin_, end - core_begin_);
    return std::any_of(kAbbreviations.begin(), kAbbreviations.end(), [&](std::u32string_view known) {
      return std::equal(known.begin(), known.end(), run.begin(), run.end(),
                        [&](char32_t a, char32_t b) { return a == ascii_lower(b); });
    });
  }

  const Original& text_;
  std::size_t n_;
  Pieces& pieces_;
  std::size_t run_begin_ = 0;   // of the code points other than white space
  std::size_t core_begin_ = 0;  // after the brackets and quotation marks at its beginning
};

}  // namespace

void find_sentences(const Original& text, std::vector<Span>& sentences) {
  sentences.clear();
  Pieces pieces(text, sentences);
  if (text.is_japanese()) {
    find_japanese_sentences(text, pieces);
  } else {
    EnglishSentences(text, pieces).find();
  }
}

Span stripped(const Original& text, Span span) {
  std::uint32_t end = span.end;
  while (end > span.begin && text.is_space(end - 1)) --end;
  std::uint32_t begin = span.begin;
  while (begin < end && text.is_space(begin)) ++begin;
  return {begin, end};
}

}  // namespace pfgen
