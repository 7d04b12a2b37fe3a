#include <span>

#include "pfgen/batch_scorer.hpp"

namespace pfgen {
namespace {

// Searches one text; `in_units` has the position of the end of a match, by default it is the end itself.
void search_text(const PatternSearch& search, std::u32string_view text, std::span<std::uint32_t> positions,
                 const Positions* in_units = nullptr) {
  search(text, positions);
  if (in_units == nullptr) return;
  for (std::uint32_t& position : positions) {
    if (position != kNotFound) position = in_units->position(position);
  }
}

}  // namespace

std::vector<std::uint32_t> regex_positions(const Question& question, const TextView& answer, NormalisedText& memory,
                                           const PatternSearch& search) {
  const std::size_t n_regexes = question.rules->n_regexes();
  const bool is_normalised = question.index->profile() == Profile::kNormalised;
  const Spelling* const spelling = question.spelling.get();
  const std::size_t look_ahead = question.look_ahead();
  std::vector<std::uint32_t> positions((is_normalised ? kTextForms : 1) * n_regexes, kNotFound);
  if (n_regexes == 0 || answer.is_null) return positions;
  SpelledText words;
  if (!is_normalised) {
    std::vector<char32_t> text;
    if (spelling == nullptr) {
      if (decode(answer, look_ahead, text) == kNoError) search_text(search, {text.data(), text.size()}, positions);
    } else if (spelling->spell(answer, look_ahead + 1, text, words) == kNoError) {
      search_text(search, {text.data(), words.n_read(text.size(), look_ahead)}, positions, &words);
    }
    return positions;
  }
  NormalisedText in_words(Gaps::kSpaces);
  const NormalisedText& text = spelling == nullptr ? memory : in_words;
  const std::size_t invalid =
      spelling == nullptr ? memory.read(answer, look_ahead) : spelling->spell(answer, look_ahead + 1, in_words, words);
  if (invalid != kNoError) return positions;
  const std::size_t n_read = spelling == nullptr ? look_ahead : words.n_read(text.units().size(), look_ahead);
  for (std::size_t i = 0; i < kTextForms; ++i) {
    if (!text.has_form(i)) continue;
    const TokenPositions in_tokens(text.form(i), words);
    search_text(search, text.form(i).cut(n_read), std::span(positions).subspan(i * n_regexes, n_regexes),
                spelling == nullptr ? &text.form(i) : static_cast<const Positions*>(&in_tokens));
  }
  return positions;
}

}  // namespace pfgen
