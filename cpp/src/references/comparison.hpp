// What the metrics have in common: each compares an answer with references, whose tokens are prepared once for all
// metrics, and writes its columns.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pfgen/reference_scorer.hpp"
#include "references/pauses.hpp"
#include "references/rouge.hpp"
#include "references/tokens.hpp"

namespace pfgen {

// A place for tokens: the number of a Tokenizer, or one of these.
inline constexpr std::size_t kOwnTokens = static_cast<std::size_t>(Tokenizer::kSquad) + 1;  // of the caller
inline constexpr std::size_t kAllCharacters = kOwnTokens + 1;                               // white space too
inline constexpr std::size_t kChrfWords = kAllCharacters + 1;                               // the words of chrF++
inline constexpr std::size_t kTokenPlaces = kChrfWords + 1;

// The tokens of a text that some metric needs. Tokens of characters are numbers of code points.
struct PreparedText {
  std::array<std::vector<TokenId>, kTokenPlaces> tokens;
  Sentences sentences;  // of ROUGE-Lsum
};

// A metric, the first of its columns and of its counts, and the place of its tokens.
struct Wanted : WantedMetric {
  std::size_t column;
  std::size_t counts;
  std::size_t tokens;
};

// The shares with several references: of the one with the largest f, as rouge_score's score_multi selects it, or means.
class ReducedShares {
 public:
  explicit ReducedShares(Reduce reduce) : reduce_(reduce) {}

  void add(const Shares& shares) {
    ++n_;
    if (reduce_ == Reduce::kMean) {
      value_ = {value_.precision + shares.precision, value_.recall + shares.recall, value_.f + shares.f};
    } else if (shares.f > value_.f) {
      value_ = shares;
    }
  }
  Shares value() const {
    if (reduce_ == Reduce::kBest || n_ == 0) return value_;
    return {value_.precision / n_, value_.recall / n_, value_.f / n_};
  }

 private:
  Reduce reduce_;
  double n_ = 0;
  Shares value_;
};

// The results of one row.
struct ResultRow {
  double* first;  // in the first column
  std::size_t n_rows;
  std::int32_t* counts;  // of the first metric

  void set(std::size_t column, double value) const { first[column * n_rows] = value; }
  void set_shares(const Wanted& wanted, const Shares& shares) const {
    set(wanted.column, shares.f);
    set(wanted.column + 1, shares.precision);
    set(wanted.column + 2, shares.recall);
  }
  void set_counts(const Wanted& wanted, std::span<const std::int64_t> values) const {
    std::ranges::transform(values, counts + wanted.counts, [](std::int64_t n) { return static_cast<std::int32_t>(n); });
  }
};

// Compares one answer after another with references. Holds memory for reuse, so each thread needs its own.
class Comparison {
 public:
  Comparison() = default;
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;
  virtual ~Comparison() = default;

  // The answer stays valid until finish().
  virtual void set_answer(const PreparedText& answer) = 0;
  virtual void add_reference(const PreparedText& reference) = 0;
  virtual void finish(const ResultRow& row) = 0;
  // The answer stays, and the next reference is its first one.
  virtual void forget_references() {}
};

// The place of the tokens of ROUGE.
inline std::size_t place_of_rouge(const ReferenceOptions& options) {
  return options.has_own_tokens ? kOwnTokens : static_cast<std::size_t>(options.tokenizer.value_or(Tokenizer::kRouge));
}

// All kinds of BLEU.
std::unique_ptr<Comparison> compare_bleu(const ReferenceOptions& options, std::span<const Wanted> wanted, Steps& steps);
// chrF, chrF++ or both: they share their n-grams of characters.
std::unique_ptr<Comparison> compare_chrf(const ReferenceOptions& options, std::span<const Wanted> wanted);
// Writes the same scores of each answer with each reference alone, or returns false if the texts are too long for it.
// A column is a matrix with a row for each answer.
bool score_chrf_pairs(const ReferenceOptions& options, std::span<const Wanted> wanted,
                      std::span<const PreparedText> answers, std::span<const PreparedText> references,
                      std::size_t n_threads, Pauses& pauses, double* columns);
// The following have tokens of one kind. ROUGE-N of several n.
std::unique_ptr<Comparison> compare_rouge_n(const ReferenceOptions& options, std::span<const Wanted> wanted);
// The shares of repeated and of distinct n-grams.
std::unique_ptr<Comparison> compare_with_itself(std::span<const Wanted> wanted);
// ROUGE-L, ROUGE-Lsum, token F1 and exact match.
std::unique_ptr<Comparison> compare_sequences(const ReferenceOptions& options, std::span<const Wanted> wanted,
                                              Steps& steps);

}  // namespace pfgen
