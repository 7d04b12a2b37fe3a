#include "pfgen/perturbation.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "perturbation/damage.hpp"
#include "perturbation/donor_tables.hpp"
#include "perturbation/packed_texts.hpp"
#include "pfgen/error.hpp"
#include "system/parallel.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kTextsPerTask = 64;

struct KindEntry {
  std::string_view name;  // a part of the seed
  DamagePointer (*make)();
};

// In the order of PerturbationKind.
constexpr std::array<KindEntry, 24> kKinds{{
    {"char_delete", make_char_delete},
    {"char_typo", make_char_typo},
    {"char_swap", make_char_swap},
    {"char_repeat", make_char_repeat},
    {"word_delete", make_word_delete},
    {"word_drop", make_word_drop},
    {"word_swap", make_word_swap},
    {"word_repeat", make_word_repeat},
    {"number_change", make_number_change},
    {"term_swap", make_term_swap},
    {"function_word", make_function_word},
    {"negate", make_negate},
    {"sentence_reorder", make_sentence_reorder},
    {"sentence_delete", make_sentence_delete},
    {"sentence_repeat", make_sentence_repeat},
    {"sentence_insert", make_sentence_insert},
    {"answer_swap", make_answer_swap},
    {"wrong_ending", make_wrong_ending},
    {"truncate", make_truncate},
    {"loop", make_loop},
    {"identity", make_identity},
    {"newline", make_newline},
    {"punctuation", make_punctuation},
    {"width", make_width},
}};

// Damages texts one after the other, for one thread.
class Worker {
 public:
  Worker(std::span<const TextView> texts, const PerturbationOptions& options, std::vector<PerturbedTexts>& columns)
      : texts_(texts),
        options_(options),
        columns_(columns),
        kind_(kKinds[static_cast<std::size_t>(options.kind)]),
        damage_(kind_.make()),
        packed_(columns.size()) {}

  void operator()(std::size_t task) {
    const std::size_t begin = task * kTextsPerTask;
    const std::size_t end = std::min(texts_.size(), begin + kTextsPerTask);
    for (PackedTexts& packed : packed_) packed.clear();
    for (std::size_t row = begin; row < end; ++row) {
      try {
        perturb(row);
      } catch (const std::length_error&) {
        throw TextTooLong(row, kMaxPerturbedCodePoints);
      }
    }
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      columns_[column].bytes[task] = packed_[column].copy(&columns_[column].texts[begin]);
    }
  }

 private:
  void perturb(std::size_t row) {
    const std::size_t error = original_.read(texts_[row], options_.languages[row]);
    if (error != kNoError) throw InvalidAnswer(row, error);
    damage_->read(
        {.original = original_,
         .kind = kind_.name,
         .seed = options_.seed,
         .degrees = options_.degrees,
         .donors = options_.donors != nullptr ? &options_.donors->tables() : nullptr,
         .group = options_.groups.empty() ? kNoGroup : options_.groups[row],
         .alternative = options_.alternatives.empty() ? TextView{.is_null = true} : options_.alternatives[row]});
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      damaged_.clear();
      const Impossible reason = checked(damage_->write(options_.degrees[column], damaged_));
      columns_[column].impossible[row] = static_cast<std::uint8_t>(reason);
      if (reason == Impossible::kNot) {
        packed_[column].add(damaged_.view());
      } else {
        packed_[column].add_null();
      }
    }
  }

  Impossible checked(Impossible reason) const {
    if (reason != Impossible::kNot) return reason;
    if (options_.kind != PerturbationKind::kIdentity && damaged_.view() == original_.view()) {
      return Impossible::kUnchanged;
    }
    return damaged_.is_blank() ? Impossible::kNothingLeft : Impossible::kNot;
  }

  std::span<const TextView> texts_;
  const PerturbationOptions& options_;
  std::vector<PerturbedTexts>& columns_;
  const KindEntry& kind_;
  DamagePointer damage_;
  Original original_;
  DamagedText damaged_;
  std::vector<PackedTexts> packed_;  // of each degree
};

}  // namespace

std::optional<PerturbationKind> perturbation_kind(std::string_view name) {
  const auto found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const KindEntry& kind) { return kind.name == name; });
  if (found == kKinds.end()) return std::nullopt;
  return static_cast<PerturbationKind>(found - kKinds.begin());
}

Donors::Donors(std::span<const TextView> texts, std::span<const std::uint32_t> groups)
    : tables_(std::make_unique<DonorTables>(texts, groups)) {}
Donors::Donors(Donors&&) noexcept = default;
Donors& Donors::operator=(Donors&&) noexcept = default;
Donors::~Donors() = default;

std::vector<PerturbedTexts> perturb(std::span<const TextView> texts, const PerturbationOptions& options,
                                    std::size_t n_threads, const std::function<void()>& on_pause) {
  const std::size_t n_tasks = (texts.size() + kTextsPerTask - 1) / kTextsPerTask;
  std::vector<PerturbedTexts> columns(options.degrees.size());
  for (PerturbedTexts& column : columns) {
    column.texts.resize(texts.size());
    column.impossible.resize(texts.size());
    column.bytes.resize(n_tasks);
  }
  run_parallel(n_tasks, n_threads, on_pause, [&] {
    return [worker = std::make_shared<Worker>(texts, options, columns)](std::size_t task) { (*worker)(task); };
  });
  return columns;
}

}  // namespace pfgen
