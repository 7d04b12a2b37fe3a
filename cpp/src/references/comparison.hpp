// What the metrics have in common: each reads the texts of some answers with one list of references, which are prepared
// once for all metrics, and writes its columns.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pfgen/reference_scorer.hpp"
#include "references/rouge.hpp"
#include "references/tokens.hpp"

namespace pfgen {

// A place for tokens: the number of a Tokenizer, or that of the caller's tokenizer.
inline constexpr std::size_t kOwnTokens = static_cast<std::size_t>(Tokenizer::kSquad) + 1;
inline constexpr std::size_t kTokenPlaces = kOwnTokens + 1;

struct PreparedText {
  std::u32string text;
  std::array<std::vector<TokenId>, kTokenPlaces> tokens;  // empty unless some metric needs them
  Sentences sentences;                                    // of ROUGE-Lsum
};

// A metric, the first of its columns and of its counts, and the place of its tokens.
struct Wanted : WantedMetric {
  std::size_t column;
  std::size_t counts;
  std::size_t tokens;
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

// Holds memory for reuse, so each thread needs its own.
class Comparison {
 public:
  Comparison() = default;
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;
  virtual ~Comparison() = default;

  // `answers` stay valid until the next call of begin(); the references of all of them follow.
  virtual void begin(std::span<const PreparedText> answers) = 0;
  virtual void add_reference(const PreparedText& reference) = 0;
  virtual void finish(std::size_t answer, const ResultRow& row) = 0;
};

inline std::size_t n_tokens(std::span<const PreparedText> texts, std::size_t place) {
  std::size_t n = 0;
  for (const PreparedText& text : texts) n += text.tokens[place].size();
  return n;
}

std::unique_ptr<Comparison> compare_bleu(const ReferenceOptions& options, const Wanted& wanted);
// chrF, chrF++ or both: they share their n-grams of characters.
std::unique_ptr<Comparison> compare_chrf(const ReferenceOptions& options, std::span<const Wanted> wanted);
// All metrics of one kind of tokens that count n-grams without smoothing: ROUGE-N, and shares within the answer.
std::unique_ptr<Comparison> compare_ngrams(std::span<const Wanted> wanted);
// ROUGE-L, ROUGE-Lsum, token F1 and exact match, of one kind of tokens.
std::unique_ptr<Comparison> compare_sequences(std::span<const Wanted> wanted);

}  // namespace pfgen
