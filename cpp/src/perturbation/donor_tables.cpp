#include "perturbation/donor_tables.hpp"

#include "perturbation/sentences.hpp"
#include "perturbation/words.hpp"
#include "pfgen/error.hpp"

namespace pfgen {

DonorTables::DonorTables(std::span<const TextView> texts, std::span<const std::uint32_t> groups)
    : texts_(texts.begin(), texts.end()), groups_(groups.begin(), groups.end()) {
  std::vector<char32_t> none;
  for (std::size_t row = 0; row < texts_.size(); ++row) {
    const std::size_t error = decode(texts_[row], 0, none);
    if (error != kNoError) throw InvalidAnswer(row, error);
    if (texts_[row].n_units > kMaxPerturbedCodePoints) throw TextTooLong(row, kMaxPerturbedCodePoints);
  }
}

template <class Add>
void DonorTables::for_each_text(Language language, const Add& add) const {
  Original text;
  for (std::size_t row = 0; row < texts_.size(); ++row) {
    text.read(texts_[row], language);
    add(text, groups_.empty() ? DistinctTexts::kShared : groups_[row]);
  }
}

const DistinctTexts& DonorTables::texts() const {
  std::call_once(whole_.once, [&] {
    for_each_text(Language::kEnglish,
                  [&](const Original& text, std::uint32_t group) { whole_.texts.add(text.view(), group); });
    whole_.texts.sort();
  });
  return whole_.texts;
}

const DistinctTexts& DonorTables::sentences(Language language) const {
  Table& table = sentences_[static_cast<std::size_t>(language)];
  std::call_once(table.once, [&] {
    std::vector<Span> sentences;
    for_each_text(language, [&](const Original& text, std::uint32_t group) {
      find_sentences(text, sentences);
      for (const Span sentence : sentences) {
        const std::u32string_view body = text.view(stripped(text, sentence));
        if (!body.empty()) table.texts.add(body, group);
      }
    });
    table.texts.sort();
  });
  return table.texts;
}

const DistinctTexts& DonorTables::terms(Script script) const {
  Table& table = terms_[static_cast<std::size_t>(script)];
  std::call_once(table.once, [&] {
    WordFinder finder;
    std::vector<TermPlace> places;
    const Language language = script == Script::kAlphanumeric ? Language::kEnglish : Language::kJapanese;
    for_each_text(language, [&](const Original& text, std::uint32_t group) {
      finder.find_terms(text, places);
      for (const TermPlace& place : places) {
        if (place.is_term && place.script == script) table.texts.add(text.view(place.span), group);
      }
    });
    table.texts.sort();
  });
  return table.texts;
}

}  // namespace pfgen
