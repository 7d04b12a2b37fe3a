#include "perturbation/original.hpp"

#include <stdexcept>

namespace pfgen {
namespace {

bool is_of_japanese(Script script) {
  return script == Script::kHiragana || script == Script::kKatakana || script == Script::kKanji;
}

}  // namespace

std::size_t Original::read(const TextView& text, Language language) {
  const std::size_t error = decode(text, kNoError, code_points_);
  if (error != kNoError) return error;
  read_characters(language);
  return kNoError;
}

void Original::read(std::u32string_view text, Language language) {
  code_points_.assign(text.begin(), text.end());
  read_characters(language);
}

void Original::read_characters(Language language) {
  const std::size_t n = code_points_.size();
  if (n > kMaxPerturbedCodePoints) throw std::length_error("a text is too long");
  bases_.resize(n);
  traits_.resize(n);
  starts_.resize(n + 1);
  std::size_t n_characters = 0;
  bool has_japanese = false;
  for (std::size_t i = 0; i < n; ++i) {
    const Traits traits = traits_of(code_points_[i]);
    has_japanese |= is_of_japanese(script_of(traits));
    if (i > 0 && ((traits & kJoins) != 0 || code_points_[i - 1] == kZeroWidthJoiner)) {
      bases_[i] = bases_[i - 1];
      traits_[i] = static_cast<Traits>(traits_[i - 1] | kJoins);
    } else {
      starts_[n_characters++] = static_cast<std::uint32_t>(i);
      bases_[i] = code_points_[i];
      traits_[i] = static_cast<Traits>(traits & ~kJoins);
    }
  }
  starts_[n_characters] = static_cast<std::uint32_t>(n);
  starts_.resize(n_characters + 1);
  language_ = language != Language::kByText ? language : has_japanese ? Language::kJapanese : Language::kEnglish;
}

std::size_t Original::character_end(std::size_t at) const {
  ++at;
  while (at < size() && joins(at)) ++at;
  return at;
}

void Original::find_scripts(std::vector<Script>& scripts) const {
  scripts.resize(size());
  Script before = Script::kOther;
  for (std::size_t i = 0; i < size(); ++i) {
    const bool follows_kana = before == Script::kHiragana || before == Script::kKatakana;
    if (!joins(i) && !(bases_[i] == kProlongedSound && follows_kana)) before = script_of(traits_[i]);
    scripts[i] = before;
  }
}

}  // namespace pfgen
