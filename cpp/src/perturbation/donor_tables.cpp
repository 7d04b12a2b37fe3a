#include "perturbation/donor_tables.hpp"

#include <utility>

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
    const std::size_t error = text.read(texts_[row], language);
    if (error != kNoError) throw InvalidAnswer(row, error);  // the bytes have changed since they were checked
    add(text, groups_.empty() ? DistinctTexts::kShared : groups_[row]);
  }
}

template <class Fill>
const DistinctTexts& DonorTables::filled(Table& table, const Fill& fill) {
  std::call_once(table.once, [&] {
    DistinctTexts texts;  // a new one: an exception or a fork may leave it half filled
    fill(texts);
    texts.sort();
    table.texts = std::move(texts);
  });
  return table.texts;
}

const DistinctTexts& DonorTables::texts() const {
  return filled(whole_, [&](DistinctTexts& texts) {
    for_each_text(Language::kEnglish,
                  [&](const Original& text, std::uint32_t group) { texts.add(text.view(), group); });
  });
}

const DistinctTexts& DonorTables::sentences(Language language) const {
  return filled(sentences_[static_cast<std::size_t>(language)], [&](DistinctTexts& texts) {
    std::vector<Span> sentences;
    for_each_text(language, [&](const Original& text, std::uint32_t group) {
      find_sentences(text, sentences);
      for (const Span sentence : sentences) {
        const std::u32string_view body = text.view(stripped(text, sentence));
        if (!body.empty()) texts.add(body, group);
      }
    });
  });
}

const DistinctTexts& DonorTables::terms(Script script) const {
  return filled(terms_[static_cast<std::size_t>(script)], [&](DistinctTexts& texts) {
    WordFinder finder;
    std::vector<TermPlace> places;
    const Language language = script == Script::kAlphanumeric ? Language::kEnglish : Language::kJapanese;
    for_each_text(language, [&](const Original& text, std::uint32_t group) {
      finder.find_terms(text, places);
      for (const TermPlace& place : places) {
        if (place.is_term && place.script == script) texts.add(text.view(place.span), group);
      }
    });
  });
}

}  // namespace pfgen
