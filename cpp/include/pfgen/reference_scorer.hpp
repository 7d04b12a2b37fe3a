// Scores many answers, each by its own list of references, with several threads.
//
// Each answer is scored separately, so threads, batches and their order cannot change results. Answers with one list
// are scored together, so that the list is prepared once for about 32 of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pfgen/reference_metrics.hpp"
#include "pfgen/text.hpp"
#include "pfgen/tokenizer.hpp"

namespace pfgen {

enum class ReferenceMetric : std::uint8_t {
  kBleu,
  kChrf,
  kChrfWords,  // chrF++: n-grams of words as well
  kRougeN,     // precision, recall and F, as all kinds of ROUGE
  kRougeL,
  kRougeLsum,
  kTokenF1,
  kExactMatch,
  kNmtBleu,    // with the shortest reference
  kBleuRouge,  // harmonic mean of kNmtBleu and F of kRougeL
  kRepeated,   // share of the different n-grams that occur more than once
  kDistinct,   // share of the n-grams that are different
};

inline constexpr std::size_t kChrfWordOrder = 2;  // of chrF++

// `order` is the n of kRougeN, kRepeated and kDistinct.
struct WantedMetric {
  ReferenceMetric metric;
  std::size_t order;

  std::size_t n_columns() const noexcept;  // 3 of ROUGE, else 1
  bool needs_references() const noexcept { return metric < ReferenceMetric::kRepeated; }
};

// The tokens of several texts, by a tokenizer of the caller: those of text i are from `begins[i]` to `begins[i + 1]`.
struct TextTokens {
  std::span<const std::uint32_t> tokens;
  std::span<const std::uint64_t> begins;

  std::span<const std::uint32_t> operator[](std::size_t text) const {
    return tokens.subspan(begins[text], begins[text + 1] - begins[text]);
  }
};

// What a tokenizer of the caller has found in texts. The tokens of sentences, for ROUGE-Lsum, have kEndOfSentence after
// each sentence.
struct OwnTokens {
  static constexpr std::uint32_t kEndOfSentence = 0xFFFFFFFF;

  TextTokens texts;
  TextTokens sentences;
};

// What a score with several references is: by default as the libraries of the metrics define it, the best or, of BLEU,
// with the counts of all references; or the mean of the scores with each reference alone.
enum class Reduce : std::uint8_t { kBest, kMean };

struct ReferenceOptions {
  std::vector<WantedMetric> metrics;
  Reduce reduce = Reduce::kBest;
  std::optional<Tokenizer> tokenizer;  // of all metrics of tokens; each has a default
  bool has_own_tokens = false;         // for all metrics of tokens
  bool is_lower_case = false;
  bool is_effective = true;  // of BLEU
  BleuOptions bleu;
  ChrfOptions chrf;

  std::size_t n_counts(ReferenceMetric metric) const noexcept;
};

// The longest text: the time of a longest common subsequence grows with the product of two lengths.
inline constexpr std::size_t kLongestReferenceText = std::size_t{1} << 20;  // code points

struct ReferenceBatch {
  static constexpr std::uint32_t kNoList = 0xFFFFFFFF;

  std::span<const TextView> answers;      // may be null
  std::span<const std::uint32_t> lists;   // of each answer: the number of its list, or kNoList
  std::span<const TextView> references;   // list after list; none is null
  std::span<const std::uint64_t> begins;  // of each list in `references`, then the end of the last one
  OwnTokens of_answers;
  OwnTokens of_references;
};

// A text that cannot be scored: invalid UTF-8, or too long.
struct InvalidReferenceText : std::runtime_error {
  InvalidReferenceText(bool is_reference_in, std::size_t text_in, std::size_t byte_in)
      : std::runtime_error("text " + std::to_string(text_in) + ": too long, or invalid UTF-8"),
        is_reference(is_reference_in),
        text(text_in),
        byte(byte_in) {}
  bool is_reference;
  std::size_t text;  // among the answers, or the references
  std::size_t byte;  // of the invalid UTF-8; kNoError if the text is too long
};

// An answer and a reference whose lines are too long or too many for ROUGE-Lsum.
struct LinesTooLong : std::runtime_error {
  LinesTooLong(std::size_t row_in, const std::string& problem) : std::runtime_error(problem), row(row_in) {}
  std::size_t row;
};

class ReferenceScorer {
 public:
  explicit ReferenceScorer(ReferenceOptions options);

  const ReferenceOptions& options() const noexcept { return options_; }
  std::size_t n_columns() const noexcept;
  // The counts of a row, metric by metric: those that `bleu` and `chrf` take. Other metrics have no counts.
  std::size_t n_counts() const noexcept;

  // Writes columns one after the other, and the counts row after row. A row without an answer or a list gets NaN and
  // zeros. Throws InvalidReferenceText or LinesTooLong.
  void score(const ReferenceBatch& batch, std::size_t n_threads, std::span<double> columns,
             std::span<std::int32_t> counts, const std::function<void()>& on_pause = {}) const;

  // Scores each answer with each reference alone; the lists of the batch are not read. A column is a matrix with a row
  // for each answer. Each text is prepared once, and texts that are both answers and references have one span. No text
  // may be null. Throws InvalidReferenceText or LinesTooLong.
  void score_pairs(const ReferenceBatch& batch, std::size_t n_threads, std::span<double> columns,
                   const std::function<void()>& on_pause = {}) const;

 private:
  class Block;
  class PairBlock;

  ReferenceOptions options_;
};

}  // namespace pfgen
