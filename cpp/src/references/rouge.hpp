// ROUGE as rouge_score computes it, from tokens. References need no preparation apart from their tokens.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "references/pauses.hpp"
#include "references/tokens.hpp"

namespace pfgen {

struct Shares {
  double precision = 0;
  double recall = 0;
  double f = 0;
};

// `n_found` of the tokens or n-grams of both texts; a share of nothing is 0.
Shares shares_of(std::size_t n_found, std::size_t n_reference, std::size_t n_answer);

using Tokens = std::span<const TokenId>;

// Texts of several sentences: all tokens, and where in them each sentence ends.
struct Sentences {
  std::vector<TokenId> tokens;
  std::vector<std::size_t> ends;
};

// Splits `text` at newlines, and replaces `out` with the tokens of the parts that are not empty.
void tokenize_sentences(Tokenizer tokenizer, std::u32string_view text, Vocabulary& vocabulary, Sentences& out);

// Computes shares of one reference and one answer, whose tokens have numbers of one vocabulary. Holds memory for reuse,
// so each thread needs its own. An LCS takes the product of both lengths, divided by 64, in steps.
class Rouge {
 public:
  explicit Rouge(Steps& steps) : steps_(steps) {}

  // ROUGE-L.
  Shares lcs(Tokens reference, Tokens answer);
  // ROUGE-Lsum. Throws LcsTooLarge.
  Shares summary_lcs(const Sentences& reference, const Sentences& answer);

  // The size of the largest multiset that both contain.
  std::size_t n_common(Tokens a, Tokens b);

 private:
  void begin_table(Tokens reference, Tokens answer);
  template <class Visit>
  void visit_block(Tokens block, Tokens answer, const Visit& visit);
  void mark_lcs(Tokens reference, Tokens answer, std::span<std::uint8_t> is_marked);

  Steps& steps_;
  std::vector<std::uint32_t> counts_;   // by token; all 0 between calls
  std::vector<std::uint64_t> masks_;    // by token: its places in a block of the reference; all 0 between calls
  std::vector<std::uint64_t> carries_;  // by token of the answer, from one block to the next
  std::vector<std::uint64_t> rows_;     // by block and token of the answer
  std::vector<bool> saved_carries_;     // into blocks that are not kept
  std::vector<std::uint8_t> is_marked_;
  std::vector<TokenId> marked_;
};

// ROUGE-Lsum takes time for each pair of tokens of two sentences, and for each pair of sentences.
inline constexpr std::uint64_t kMaxLcsPairs = std::uint64_t{1} << 33;
inline constexpr std::size_t kMaxSentencePairs = std::size_t{1} << 30;
struct LcsTooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace pfgen
