// Vocabularies, and ROUGE against the tables that define it; tests in Python compare the rest with the libraries.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "references/answer_match.hpp"
#include "references/rouge.hpp"

namespace pfgen::test {

using Table = std::vector<std::vector<std::size_t>>;

Table lcs_table(Tokens reference, Tokens answer) {
  Table table(reference.size() + 1, std::vector<std::size_t>(answer.size() + 1));
  for (std::size_t i = 1; i <= reference.size(); ++i) {
    for (std::size_t j = 1; j <= answer.size(); ++j) {
      table[i][j] =
          reference[i - 1] == answer[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table;
}

// The places of the subsequence that rouge_score reads out of the table.
std::set<std::size_t> chosen_places(Tokens reference, Tokens answer) {
  const Table table = lcs_table(reference, answer);
  std::set<std::size_t> places;
  for (std::size_t i = reference.size(), j = answer.size(); i > 0 && j > 0;) {
    if (reference[i - 1] == answer[j - 1]) {
      places.insert(--i);
      --j;
    } else if (table[i][j - 1] > table[i - 1][j]) {
      --j;
    } else {
      --i;
    }
  }
  return places;
}

Sentences random_sentences(Random& random, std::size_t n_sentences, std::size_t max_length, std::size_t n_tokens) {
  Sentences sentences;
  for (std::size_t s = 0; s < n_sentences; ++s) {
    for (std::size_t n = random.below(max_length + 1); n > 0; --n) {
      sentences.tokens.push_back(static_cast<TokenId>(random.below(n_tokens)));
    }
    sentences.ends.push_back(sentences.tokens.size());
  }
  return sentences;
}

std::vector<Tokens> split(const Sentences& sentences) {
  std::vector<Tokens> parts;
  std::size_t begin = 0;
  for (const std::size_t end : sentences.ends) {
    parts.push_back(Tokens(sentences.tokens).subspan(begin, end - begin));
    begin = end;
  }
  return parts;
}

bool same(const Shares& a, const Shares& b) { return a.precision == b.precision && a.recall == b.recall && a.f == b.f; }

TEST(a_vocabulary_numbers_equal_tokens_equally) {
  Vocabulary vocabulary;
  Random random(1);
  for (int round = 0; round < 3; ++round) {
    std::vector<Text> known;
    for (int i = 0; i < 3000; ++i) {
      const Text token = random.text(U"ab\U0001F600", random.below(8));
      const auto found = std::ranges::find(known, token);
      const auto number = static_cast<TokenId>(found - known.begin());
      if (found == known.end()) known.push_back(token);
      CHECK(vocabulary.number_of(token) == number);
    }
    CHECK(vocabulary.size() == known.size());
    CHECK(known.size() > 500);
    for (TokenId i = 0; i < known.size(); ++i) CHECK(vocabulary[i] == known[i]);
    vocabulary.clear();
    CHECK(vocabulary.size() == 0);
  }
}

TEST(rouge_l_is_what_the_table_says) {
  Random random(2);
  Rouge rouge;
  std::size_t n_long = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t max_length = random.pick(std::vector<std::size_t>{3, 20, 63, 64, 65, 200});
    const auto reference = random_sentences(random, 1, max_length, random.between(1, 12)).tokens;
    const auto answer = random_sentences(random, 1, max_length, random.between(1, 12)).tokens;
    const std::size_t length = lcs_table(reference, answer).back().back();
    CHECK(same(rouge.lcs(reference, answer), shares_of(length, reference.size(), answer.size())));
    n_long += reference.size() > 128 && length > 64;
  }
  CHECK(n_long > 20);
}

TEST(rouge_lsum_unites_the_subsequences_that_rouge_score_chooses) {
  Random random(3);
  Rouge rouge;
  std::size_t n_limited = 0;  // the answer has a marked token less often
  for (int i = 0; i < 1000; ++i) {
    const std::size_t max_length = random.pick(std::vector<std::size_t>{3, 20, 130});
    const std::size_t n_tokens = random.between(1, 10);
    const Sentences reference = random_sentences(random, random.below(5), max_length, n_tokens);
    const Sentences answer = random_sentences(random, random.below(5), max_length, n_tokens);
    std::vector<std::size_t> left(n_tokens);
    for (const TokenId token : answer.tokens) ++left[token];
    std::size_t n_hits = 0;
    for (const Tokens sentence : split(reference)) {
      std::set<std::size_t> places;
      for (const Tokens other : split(answer)) places.merge(chosen_places(sentence, other));
      for (const std::size_t place : places) {
        if (left[sentence[place]] > 0) {
          --left[sentence[place]];
          ++n_hits;
        } else {
          ++n_limited;
        }
      }
    }
    CHECK(same(rouge.summary_lcs(reference, answer), shares_of(n_hits, reference.tokens.size(), answer.tokens.size())));
  }
  CHECK(n_limited > 100);
}

TEST(sentences_end_at_newlines_and_empty_ones_do_not_count) {
  Vocabulary vocabulary;
  Sentences sentences;
  tokenize_sentences(Tokenizer::kNone, U"\n\na b\n \nc\n", vocabulary, sentences);
  CHECK(sentences.tokens == std::vector<TokenId>({0, 1, 2}));
  CHECK(sentences.ends == std::vector<std::size_t>({2, 2, 3}));
}

TEST(sentences_that_are_too_long_or_too_many_are_refused) {
  Rouge rouge;
  const Sentences is_long{std::vector<TokenId>(100'001), {1, 100'001}};
  CHECK_THROWS(LcsTooLarge, rouge.summary_lcs(is_long, is_long));
  Sentences many{std::vector<TokenId>(40'000), {}};
  for (std::size_t end = 1; end <= many.tokens.size(); ++end) many.ends.push_back(end);
  CHECK_THROWS(LcsTooLarge, rouge.summary_lcs(many, many));
}

TEST(answers_match_as_squad_says) {
  Rouge rouge;
  const std::vector<TokenId> none, two{0, 1}, three{1, 0, 1};
  CHECK(token_f1(two, three, rouge) == 2 * (2.0 / 3) * 1.0 / (2.0 / 3 + 1.0));
  CHECK(token_f1(none, none, rouge) == 1 && exact_match(none, none) == 1);
  CHECK(token_f1(none, two, rouge) == 0 && token_f1(two, none, rouge) == 0);
  CHECK(exact_match(two, two) == 1 && exact_match(two, three) == 0);
}

}  // namespace pfgen::test
