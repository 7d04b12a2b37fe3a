// The parts of donors that other texts may take. Each table is made when it is first needed.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "perturbation/distinct_texts.hpp"
#include "perturbation/original.hpp"

namespace pfgen {

struct DonorTables {
 public:
  DonorTables(std::span<const TextView> texts, std::span<const std::uint32_t> groups);

  // The texts themselves.
  const DistinctTexts& texts() const;
  // Stripped and not empty.
  const DistinctTexts& sentences(Language language) const;
  // Of one class: the katakana or kanji terms of a Japanese text, the alphanumeric ones of an English text.
  const DistinctTexts& terms(Script script) const;

 private:
  struct Table {
    std::once_flag once;
    DistinctTexts texts;
  };

  template <class Fill>
  static const DistinctTexts& filled(Table& table, const Fill& fill);
  // Calls `add(text, group)` for each donor, read in a language.
  template <class Add>
  void for_each_text(Language language, const Add& add) const;

  std::vector<TextView> texts_;
  std::vector<std::uint32_t> groups_;  // of each text; empty without groups
  mutable Table whole_;
  mutable std::array<Table, 2> sentences_;  // by language
  mutable std::array<Table, 5> terms_;      // by class
};

}  // namespace pfgen
