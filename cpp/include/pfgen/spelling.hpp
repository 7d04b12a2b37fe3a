// Words as units of n-grams (docs/scoring.md, section 8): a text is spelled with one code point for each token, so code
// that counts code points counts tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pfgen/normalised_text.hpp"
#include "pfgen/positions.hpp"
#include "pfgen/text.hpp"

namespace pfgen {

// How a text is split, by the properties of characters in Unicode 13.0: `kWhitespace` at white space; `kWords` into
// runs of letters, digits and `_`, and other visible characters one by one.
enum class TokenPattern : std::uint8_t { kWhitespace, kWords };

// The first tokens of a text. Its memory is used again for every text.
struct SpelledText final : Positions {
  std::u32string symbols;
  std::vector<std::uint32_t> begins;  // of each token, in code points of the text
  std::vector<std::uint32_t> ends;
  std::vector<std::uint8_t> bytes;  // working memory

  // The number of tokens that begin before the code point `end`.
  std::uint32_t position(std::size_t end) const override;
  // The length of a text up to the end of its n-th token, n being at least 1 and less than the number of tokens that
  // were looked for; `n_units` if the text has at most n tokens.
  std::size_t n_read(std::size_t n_units, std::size_t n) const { return symbols.size() <= n ? n_units : ends[n - 1]; }
};

// The positions of matches in a form of a text, in tokens.
struct TokenPositions final : Positions {
  TokenPositions(const TextForm& form_in, const SpelledText& spelled_in) : form(form_in), spelled(spelled_in) {}
  std::uint32_t position(std::size_t end) const override { return spelled.position(form.position(end)); }

  const TextForm& form;
  const SpelledText& spelled;
};

// The symbols of the words of one question. Immutable and thread-safe.
class Spelling {
 public:
  // Word `i` has symbol `i`; all other words have the symbol `unknown`.
  Spelling(TokenPattern pattern, const std::vector<std::u32string>& words, std::u32string symbols, char32_t unknown);
  ~Spelling();
  Spelling(const Spelling&) = delete;
  Spelling& operator=(const Spelling&) = delete;

  // Reads the first `limit` tokens, at least 1. Decodes `text` only as far as that needs, into `code_points`. Returns
  // kNoError, or the byte offset of the first invalid UTF-8 sequence.
  std::size_t spell(const TextView& text, std::size_t limit, std::vector<char32_t>& code_points,
                    SpelledText& out) const;
  // The same, of a text in profile normalised, whose spaces are kept; `out` is of its units.
  std::size_t spell(const TextView& text, std::size_t limit, NormalisedText& normalised, SpelledText& out) const;
  // The same, of a text that is decoded.
  void spell(std::u32string_view text, std::size_t limit, SpelledText& out) const;

 private:
  class Words;

  template <class Read, class Units, class IsWhole>
  std::size_t spell_parts(std::size_t limit, SpelledText& out, const Read& read, const Units& units,
                          const IsWhole& is_whole) const;

  TokenPattern pattern_;
  std::u32string symbols_;
  char32_t unknown_;
  std::unique_ptr<const Words> words_;
};

// Where the tokens of a text begin and end.
std::vector<std::pair<std::uint32_t, std::uint32_t>> token_spans(TokenPattern pattern, std::u32string_view text);
// The different words of texts, in the order of their first occurrence.
std::vector<std::u32string> words_of(TokenPattern pattern, const std::vector<std::u32string>& texts);

}  // namespace pfgen
