// Short calls of `perturb`, which return texts.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "makers/texts.hpp"
#include "perturbation/original.hpp"
#include "pfgen/perturbation.hpp"

namespace pfgen::test {

// A damaged text, or the reason why a text cannot be damaged.
using Outcome = std::variant<Text, Impossible>;

// All inputs of damage besides the kind.
struct Setting {
  std::vector<Degree> degrees{Degree{}};
  Language language = Language::kByText;
  std::vector<Text> donors{};
  std::vector<std::uint32_t> groups{};  // of the donors, which then are the texts
  Text alternative{};                   // of all texts; empty: there is no alternative
  std::uint64_t seed = 0;
  std::size_t n_threads = 1;
};

// By degree and text.
inline std::vector<std::vector<Outcome>> outcomes(std::string_view kind, const std::vector<Text>& texts,
                                                  const Setting& setting) {
  const std::vector<TextView> donor_views = views_of(setting.donors);
  const Donors donors(donor_views, setting.groups);
  const std::vector<Language> languages(texts.size(), setting.language);
  const std::vector<TextView> alternatives(texts.size(), view(setting.alternative));
  PerturbationOptions options;
  options.kind = kind;
  options.degrees = setting.degrees;
  options.seed = setting.seed;
  options.languages = languages;
  options.donors = &donors;
  options.groups = setting.groups;
  if (!setting.alternative.empty()) options.alternatives = alternatives;
  std::vector<std::vector<Outcome>> all;
  for (const PerturbedTexts& column : perturb(views_of(texts), options, setting.n_threads)) {
    auto& of_degree = all.emplace_back();
    for (std::size_t row = 0; row < texts.size(); ++row) {
      std::vector<char32_t> code_points;
      decode(column.texts[row], kNoError, code_points);
      if (column.texts[row].is_null) {
        of_degree.emplace_back(static_cast<Impossible>(column.impossible[row]));
      } else {
        of_degree.emplace_back(Text(code_points.begin(), code_points.end()));
      }
    }
  }
  return all;
}

// One text with one degree, by default all of its sites.
inline Outcome outcome(std::string_view kind, const Text& text, const Setting& setting = {}) {
  return outcomes(kind, {text}, setting).front().front();
}

}  // namespace pfgen::test
