#include "references/rouge.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace pfgen {
namespace {

constexpr std::size_t kBlock = 64;                      // places of a reference that are computed at once
constexpr std::size_t kStepsOfPair = 32;                // of two sentences, however short
constexpr std::size_t kMaxRows = std::size_t{1} << 17;  // of a table that are kept, if a block does not have more

Tokens block_at(Tokens reference, std::size_t block) {
  const std::size_t begin = block * kBlock;
  return reference.subspan(begin, std::min(kBlock, reference.size() - begin));
}

template <class Value>
void make_room(std::vector<Value>& by_token, Tokens tokens) {
  const TokenId last = tokens.empty() ? 0 : std::ranges::max(tokens);
  if (last >= by_token.size()) by_token.resize(std::size_t{last} + 1);
}

// Advances a row of the table of the LCS by one token of the answer (Hyyrö 2004). The bits of `row` are places of the
// reference, and a bit is 0 where the LCS becomes longer by that place. Returns the carry to the next block.
inline std::uint64_t advance(std::uint64_t& row, std::uint64_t matches, std::uint64_t carry) {
  const std::uint64_t sum = row + (row & matches);
  const std::uint64_t with_carry = sum + carry;
  const bool overflows = sum < row || with_carry < sum;
  row = with_carry | (row & ~matches);
  return overflows ? 1 : 0;
}

}  // namespace

Shares shares_of(std::size_t n_found, std::size_t n_reference, std::size_t n_answer) {
  const auto share = [&](std::size_t n) {
    return n == 0 ? 0.0 : static_cast<double>(n_found) / static_cast<double>(n);
  };
  const double precision = share(n_answer);
  const double recall = share(n_reference);
  const double sum = precision + recall;
  return {precision, recall, sum > 0 ? 2 * precision * recall / sum : 0.0};
}

void tokenize_sentences(Tokenizer tokenizer, std::u32string_view text, Vocabulary& vocabulary, Sentences& out) {
  out.tokens.clear();
  out.ends.clear();
  while (!text.empty()) {
    const std::u32string_view sentence = text.substr(0, text.find(U'\n'));
    text.remove_prefix(std::min(sentence.size() + 1, text.size()));
    if (sentence.empty()) continue;
    tokenize(tokenizer, sentence, vocabulary, out.tokens);
    out.ends.push_back(out.tokens.size());
  }
}

std::size_t Rouge::n_common(Tokens a, Tokens b) {
  make_room(counts_, a);
  make_room(counts_, b);
  for (const TokenId token : a) ++counts_[token];
  std::size_t n_found = 0;
  for (const TokenId token : b) {
    if (counts_[token] == 0) continue;
    --counts_[token];
    ++n_found;
  }
  for (const TokenId token : a) counts_[token] = 0;
  return n_found;
}

void Rouge::begin_table(Tokens reference, Tokens answer) {
  make_room(masks_, reference);
  make_room(masks_, answer);
  carries_.assign(answer.size(), 0);
}

// Computes the rows of a block of the reference, one for each token of the answer, from the carries of the block
// before, which are replaced with those of this block.
template <class Visit>
void Rouge::visit_block(Tokens block, Tokens answer, const Visit& visit) {
  steps_.add(answer.size());
  for (std::size_t i = 0; i < block.size(); ++i) masks_[block[i]] |= std::uint64_t{1} << i;
  std::uint64_t row = ~std::uint64_t{0};
  for (std::size_t j = 0; j < answer.size(); ++j) {
    carries_[j] = advance(row, masks_[answer[j]], carries_[j]);
    visit(j, row);
  }
  for (const TokenId token : block) masks_[token] = 0;
}

Shares Rouge::lcs(Tokens reference, Tokens answer) {
  if (answer.empty()) return {};
  begin_table(reference, answer);
  std::size_t length = 0;
  for (std::size_t begin = 0; begin < reference.size(); begin += kBlock) {
    visit_block(block_at(reference, begin / kBlock), answer, [&](std::size_t j, std::uint64_t row) {
      if (j + 1 == answer.size()) length += static_cast<std::size_t>(std::popcount(~row));
    });
  }
  return shares_of(length, reference.size(), answer.size());
}

// Marks the places of one longest common subsequence in the reference, the one that rouge_score chooses. Of a large
// table, only some blocks are kept at a time: the way back computes those before them again, from their carries.
void Rouge::mark_lcs(Tokens reference, Tokens answer, std::span<std::uint8_t> is_marked) {
  if (reference.empty() || answer.empty()) return;
  const std::size_t n = answer.size();
  if (n > kMaxLcsPairs / reference.size()) {
    throw LcsTooLarge("a line of " + std::to_string(n) + " tokens, and one of " + std::to_string(reference.size()) +
                      " tokens in a reference; rouge_lsum needs shorter lines");
  }
  const std::size_t n_blocks = (reference.size() - 1) / kBlock + 1;
  const std::size_t n_kept = std::clamp<std::size_t>(kMaxRows / n, 1, n_blocks);  // blocks
  rows_.resize(n_kept * n);
  std::size_t first = 0;  // block of those that are kept
  const auto fill_rows = [&](Tokens tokens) {
    for (std::size_t block = first; block < std::min(first + n_kept, n_blocks); ++block) {
      std::uint64_t* const rows = rows_.data() + (block - first) * n;
      visit_block(block_at(reference, block), tokens, [rows](std::size_t j, std::uint64_t row) { rows[j] = row; });
    }
  };
  begin_table(reference, answer);
  saved_carries_.clear();
  for (fill_rows(answer); first + n_kept < n_blocks; fill_rows(answer)) {
    saved_carries_.insert(saved_carries_.end(), carries_.begin(), carries_.end());
    first += n_kept;
  }
  for (std::size_t i = reference.size(), j = n; i > 0 && j > 0;) {
    const std::size_t place = i - 1;
    const std::size_t block = place / kBlock;
    if (block < first) {
      first -= n_kept;
      const std::size_t saved = first / n_kept * n;  // after those into the kept blocks
      for (std::size_t k = 0; k < j; ++k) carries_[k] = first > 0 && saved_carries_[saved - n + k] ? 1 : 0;
      fill_rows(answer.first(j));
    }
    if (reference[place] == answer[j - 1]) {
      is_marked[place] = 1;
      --i;
      --j;
    } else if ((rows_[(block - first) * n + j - 1] >> place % kBlock & 1) == 0) {
      --j;
    } else {
      --i;
    }
  }
}

Shares Rouge::summary_lcs(const Sentences& reference, const Sentences& answer) {
  if (reference.ends.size() == 1 && answer.ends.size() == 1) return lcs(reference.tokens, answer.tokens);
  if (!reference.ends.empty() && answer.ends.size() > kMaxSentencePairs / reference.ends.size()) {
    throw LcsTooLarge(std::to_string(answer.ends.size()) + " lines, and " + std::to_string(reference.ends.size()) +
                      " lines in a reference; rouge_lsum needs fewer lines");
  }
  is_marked_.assign(reference.tokens.size(), 0);
  std::size_t begin = 0;
  for (const std::size_t end : reference.ends) {
    const Tokens sentence = Tokens(reference.tokens).subspan(begin, end - begin);
    std::size_t answer_begin = 0;
    for (const std::size_t answer_end : answer.ends) {
      steps_.add(kStepsOfPair);
      mark_lcs(sentence, Tokens(answer.tokens).subspan(answer_begin, answer_end - answer_begin),
               std::span(is_marked_).subspan(begin, end - begin));
      answer_begin = answer_end;
    }
    begin = end;
  }
  // A marked token counts at most as often as the answer has it.
  marked_.clear();
  for (std::size_t i = 0; i < is_marked_.size(); ++i) {
    if (is_marked_[i] != 0) marked_.push_back(reference.tokens[i]);
  }
  return shares_of(n_common(marked_, answer.tokens), reference.tokens.size(), answer.tokens.size());
}

}  // namespace pfgen
