// What building reference sets counts and selects: random cases against plain counting, one n-gram after another.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "pfgen/error.hpp"
#include "pfgen/ngram_counts.hpp"
#include "pfgen/selection.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

using Texts = std::vector<Text>;

Texts random_texts(Random& random) {
  const TextRef alphabet = random.one_in(2) ? TextRef(U"ab") : TextRef(U"abcdefgh日本語\x10FFFF");
  Texts texts;
  for (std::size_t n = random.between(1, 40); n > 0; --n) {
    if (texts.empty() || !random.one_in(5)) {
      texts.push_back(random.text(alphabet, random.below(30)));
    } else {
      texts.push_back(texts[random.below(texts.size())]);
    }
  }
  return texts;
}

// How many texts hold each n-gram.
std::map<Text, std::uint64_t> frequencies(const Texts& texts, std::size_t max_order) {
  std::map<Text, std::uint64_t> counts;
  for (const Text& text : texts) {
    std::set<Text> held;
    for (std::size_t order = 1; order <= max_order; ++order) {
      for (std::size_t i = 0; i + order <= text.size(); ++i) held.insert(text.substr(i, order));
    }
    for (const Text& gram : held) ++counts[gram];
  }
  return counts;
}

void rare_ngrams_are_those_that_occur_seldom() {
  Random random(1);
  for (int round = 0; round < 80; ++round) {
    const Texts texts = random_texts(random);
    const std::size_t order = random.one_in(4) ? random.between(13, 40) : random.between(1, 6);
    const std::uint64_t below = random.between(1, 4);
    std::map<Text, std::uint64_t> counts;
    for (const Text& text : texts) {
      for (std::size_t i = 0; i + order <= text.size(); ++i) ++counts[text.substr(i, order)];
    }
    const RareNgrams found = find_rare_ngrams(views_of(texts), order, below, random.between(1, 3));
    CHECK(found.n_distinct == counts.size());
    std::uint64_t n_rare = 0;
    for (const auto& [gram, count] : counts) n_rare += count < below;
    CHECK(found.n_rare == n_rare);
    for (std::size_t row = 0; row < texts.size(); ++row) {
      std::int32_t first = -1;
      for (std::size_t i = 0; first < 0 && i + order <= texts[row].size(); ++i) {
        if (counts[texts[row].substr(i, order)] < below) first = static_cast<std::int32_t>(i);
      }
      CHECK(found.first[row] == first);
    }
  }
}

void document_frequencies_are_counted_in_order() {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    const Texts texts = random_texts(random);
    const std::size_t max_order = random.one_in(5) ? kLongestNgram : random.between(1, 12);
    const auto counts = frequencies(texts, max_order);
    const DocumentFrequencies found = document_frequencies(views_of(texts), max_order, random.between(1, 3));
    CHECK(found.rows.size() == counts.size());
    std::size_t i = 0;
    for (const auto& [gram, count] : counts) {
      if (i == found.rows.size()) break;
      CHECK(texts[found.rows[i]].substr(found.offsets[i], found.orders[i]) == gram);
      CHECK(found.frequencies[i] == count);
      ++i;
    }
  }
}

// Python compares climbs with plain counting; here the sanitizers watch them, with classes as bits and as lists.
void a_climb_ends_with_the_sums_of_a_comparison() {
  Random random(3);
  for (int round = 0; round < 10; ++round) {
    Texts texts = random_texts(random);
    if (round == 0) texts.resize(400, U"cdefghij");
    for (std::size_t i = 40; i < texts.size(); ++i) texts[i] = random.text(i % 3 == 0 ? U"ab" : U"cdefghij", 12);
    const std::size_t size = random.between(1, std::min<std::size_t>(texts.size(), 4));
    const std::vector<Climb> climbs = select(views_of(texts), {.size = size, .max_order = 6, .n_restarts = 2}, 2);
    CHECK(climbs.size() == 2);
    for (const Climb& climb : climbs) {
      CHECK(climb.is_finished && climb.rows.size() == size);
      const DistributionSums counted = compare(views_of(texts), climb.rows, 6).sums, kept = climb.curve.back().sums;
      CHECK(kept.n_ngrams == counted.n_ngrams && kept.all_squares == counted.all_squares);
      CHECK(kept.chosen_squares == counted.chosen_squares && kept.products == counted.products);
    }
  }
}

void what_on_progress_throws_ends_the_work() {
  Random random(6);
  Texts texts;
  for (int i = 0; i < 300; ++i) texts.push_back(random.text(U"abcdefgh", 40));
  const SelectionOptions options{.size = 100, .n_restarts = 1'000'000};
  CHECK_THROWS(std::logic_error,
               select(views_of(texts), options, 2, [](const CurvePoint&) { throw std::logic_error("stop"); }));
}

void what_cannot_be_is_refused() {
  const Texts texts{U"abc", U"b"};
  CHECK_THROWS(CompileError, select(views_of(texts), {.size = 3}, 1));
  CHECK_THROWS(CompileError, select(views_of(texts), {.size = 0}, 1));
  CHECK_THROWS(CompileError, select(views_of(texts), {.max_order = 0}, 1));
  CHECK_THROWS(CompileError, document_frequencies(views_of(texts), 0, 1));
  CHECK_THROWS(CompileError, document_frequencies(views_of(texts), kLongestNgram + 1, 1));
  const std::vector<unsigned char> invalid{'a', 0xFF};
  const TextView no_text = view(invalid);
  CHECK_THROWS(InvalidAnswer, find_rare_ngrams(std::span(&no_text, 1), 5, 2, 1));
  CHECK_THROWS(InvalidAnswer, select(std::span(&no_text, 1), {}, 1));
  CHECK(find_rare_ngrams({}, 5, 2, 2).first.empty());
  CHECK(document_frequencies({}, 10, 2).rows.empty());
}

}  // namespace

int main() {
  rare_ngrams_are_those_that_occur_seldom();
  document_frequencies_are_counted_in_order();
  a_climb_ends_with_the_sums_of_a_comparison();
  what_on_progress_throws_ends_the_work();
  what_cannot_be_is_refused();
  return report("counting_test");
}
