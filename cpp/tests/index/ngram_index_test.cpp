// The n-gram index: random references against plain counting. Seeds are fixed.
#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "formulas/support.hpp"
#include "index/ngram_index.hpp"
#include "index/section_builder.hpp"
#include "makers/check.hpp"
#include "makers/rules.hpp"
#include "text/marks.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

// From which frequency on a 3-gram's support is 1.
std::uint32_t highest_level(std::uint64_t n_answers) {
  return static_cast<std::uint32_t>(support_by_frequency(static_cast<double>(n_answers)).size() - 1);
}

// Sums of the suffixes of an n-gram, and the level of the 3-gram at its end.
template <class States>
bool has_counts(const NgramIndex& index, const States& states, const typename States::State& state,
                const DocumentCounts& table, TextRef ngram) {
  const std::size_t n_sets = index.n_sets();
  const auto length = static_cast<std::uint32_t>(ngram.size());
  typename States::Counts counts = counts_up_to(states, state, length);
  typename States::Sums sums;
  sums.add(counts);
  bool agrees = state.depth() >= length && state.depth() <= 10;
  for (std::size_t s = 0; s < n_sets; ++s) {
    std::uint64_t expected = 0;
    for (std::size_t n = 1; n <= length; ++n) expected += table.find(ngram.substr(length - n))->second[s];
    agrees = agrees && sums[s] == expected;
    if (length < 3) continue;
    const std::uint32_t of_trigram = table.find(ngram.substr(length - 3))->second[s];
    agrees = agrees && state.levels()[s] == std::min(of_trigram, highest_level(index.n_answers(s)));
  }
  counts -= counts_up_to(states, state, length);
  typename States::Sums nothing;
  nothing.add(counts);
  for (std::size_t s = 0; s < n_sets; ++s) agrees = agrees && nothing[s] == 0;
  if (length < state.depth()) return agrees;
  typename States::Sums whole;
  whole.add(state.counts);
  for (std::size_t s = 0; s < n_sets; ++s) agrees = agrees && whole[s] == sums[s];
  return agrees;
}

template <class States>
void check_states(Random& random, const NgramIndex& index, const States& states, const DocumentCounts& table,
                  const std::vector<Text>& all, TextRef alphabet) {
  const std::size_t n_symbols = index.alphabet().size();
  const auto holds_last_symbol = [&](const Text& text) {
    return std::ranges::any_of(text, [&](char32_t c) { return index.alphabet().symbol_of(c) == n_symbols; });
  };
  std::vector<Text> probes;
  if (const auto found = std::ranges::find_if(all, holds_last_symbol); found != all.end()) probes.push_back(*found);
  for (int i = 0; i < 8; ++i) {
    probes.push_back(random.splice(all, alphabet, random.between(1, 60)));
    if (i % 4 == 0) probes.back()[random.below(probes.back().size())] = 0x10FFFF;
  }
  for (const Text& text : probes) {
    Cursor cursor;
    for (std::size_t end = 1; end <= text.size(); ++end) {
      cursor = read_symbol(states, cursor, index.alphabet().symbol_of(text[end - 1]));
      std::uint32_t longest = static_cast<std::uint32_t>(std::min<std::size_t>(end, 10));
      while (longest > 0 && !table.contains(TextRef(text).substr(end - longest, longest))) --longest;
      CHECK(cursor.matched == longest);
      if (cursor.matched != longest) break;
      for (std::uint32_t length = 1; length <= longest; ++length) {
        const TextRef ngram = TextRef(text).substr(end - length, length);
        CHECK(has_counts(index, states, suffix_state(states, states[cursor.place.state], length), table, ngram));
      }
      if (longest == 0) CHECK(cursor.place.state == kRoot);
      if (longest == 1) {
        typename States::Counts counts = counts_up_to(states, states[cursor.place.state], 1);
        counts -= index.symbol_counts<States>()[index.alphabet().symbol_of(text[end - 1])];
        typename States::Sums nothing;
        nothing.add(counts);
        for (std::size_t s = 0; s < index.n_sets(); ++s) CHECK(nothing[s] == 0);
      }
    }
  }
}

// With marks for profile paper.
std::vector<AnswerSet> answer_sets(const Sets& sets, Profile profile) {
  std::vector<AnswerSet> answer_sets(sets.size());
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const Text& answer : sets[s]) {
      auto& symbols = answer_sets[s].emplace_back(answer.begin(), answer.end());
      if (profile != Profile::kPaper) continue;
      symbols.insert(symbols.begin(), kBeginMark);
      symbols.push_back(kEndMark);
    }
  }
  return answer_sets;
}

void check_baselines(const Sets& sets) {
  for (const Profile profile : {Profile::kLeaderboard, Profile::kPaper}) {
    const Section section = SectionBuilder().build(answer_sets(sets, profile), profile);
    const NgramIndex index(section.bytes);
    const Rules rules(sets, profile);
    for (std::size_t s = 0; s < sets.size(); ++s) CHECK(index.baseline(s) == rules.baseline(s));
  }
}

void check_index(Random& random, const Sets& sets, TextRef alphabet, bool is_wide = false) {
  std::vector<Text> all;
  std::unordered_set<char32_t> code_points;
  for (const auto& set : sets) {
    for (const Text& answer : set) {
      code_points.insert(answer.begin(), answer.end());
      all.push_back(answer);
    }
  }
  const Section section = SectionBuilder().build(answer_sets(sets, Profile::kLeaderboard), Profile::kLeaderboard);
  const NgramIndex index(section.bytes);
  CHECK(index.is_wide() == is_wide);
  CHECK(index.n_bytes() == section.bytes.size());
  const DocumentCounts table = count_documents(sets);
  CHECK(index.n_sets() == sets.size());
  CHECK(index.alphabet().size() == code_points.size());
  CHECK(index.alphabet().symbol_of(0x10FFFF) == kUnknown);
  index.with_states([&](const auto& states) { check_states(random, index, states, table, all, alphabet); });
}

void index_counts_the_documents_of_every_ngram() {
  Random random(2);
  for (std::size_t round = 0; round < 24; ++round) {
    const std::size_t n_symbols = random.pick(std::vector<std::size_t>{1, 2, 3, 8, 60});
    Text alphabet;
    for (std::size_t i = 0; i < n_symbols; ++i) alphabet += static_cast<char32_t>(0x41 + 0x61 * i * i);
    Sets sets(1 + round % 4);
    for (auto& set : sets) {
      for (std::size_t n = random.between(1, 8); n > 0; --n) {
        const bool repeats = !set.empty() && random.one_in(5);
        set.push_back(repeats ? random.pick(set) : random.text(alphabet, random.one_in(6) ? 0 : random.between(1, 30)));
      }
    }
    check_index(random, sets, alphabet);
    check_baselines(sets);
  }
}

// References that repeat themselves in all ways: pieces of one another, whole answers, one character over and over.
Sets repeating_sets(Random& random, TextRef alphabet, std::size_t n_sets, std::size_t longest) {
  Sets sets(n_sets);
  for (auto& set : sets) {
    set.push_back(random.text(alphabet, random.between(1, longest)));
    set.push_back(Text(longest, random.pick(alphabet)));
    while (set.size() < 12) set.push_back(random.splice(set, alphabet, random.between(0, longest)));
  }
  return sets;
}

// What an answer of up to 256 symbols repeats is found in another way than what a longer one does.
void index_holds_long_answers() {
  Random random(4);
  for (const std::size_t n_symbols : {1U, 2U, 4U, 60U, 5000U}) {
    Text alphabet;
    for (std::size_t i = 0; i < n_symbols; ++i) alphabet += static_cast<char32_t>(0x20 + 0x61 * i);
    for (const std::size_t longest : {100U, 254U, 255U, 256U, 257U, 600U}) {
      const Sets sets = repeating_sets(random, alphabet, 1 + longest % 4, longest);
      check_index(random, sets, alphabet);
      check_baselines(sets);
    }
  }
}

// Sums of frequencies beyond 65,535 need the wide form.
void index_holds_large_counts() {
  Random random(5);
  const Text alphabet = U"あいうえおかきくけこ";
  Sets sets = repeating_sets(random, alphabet, 2, 30);
  check_index(random, sets, alphabet);
  const Text frequent = random.text(alphabet, 12);
  for (int i = 0; i < 7000; ++i) sets[1].push_back(i % 50 == 0 ? random.text(alphabet, 4) : frequent);
  check_index(random, sets, alphabet, true);
}

// What a builder has built before leaves no trace.
void a_builder_that_goes_on_builds_the_same() {
  Random random(6);
  SectionBuilder builder;
  for (int round = 0; round < 40; ++round) {
    const std::size_t n_symbols = random.pick(std::vector<std::size_t>{1, 2, 60, 5000});
    Text alphabet;
    for (std::size_t i = 0; i < n_symbols; ++i) alphabet += static_cast<char32_t>(0x20 + 0x61 * i);
    const Profile profile = random.one_in(2) ? Profile::kPaper : Profile::kLeaderboard;
    const Sets sets =
        repeating_sets(random, alphabet, random.between(1, 6), random.pick(std::vector<std::size_t>{20, 100, 400}));
    const std::vector<AnswerSet> answers = answer_sets(sets, profile);
    CHECK(std::ranges::equal(builder.build(answers, profile).bytes, SectionBuilder().build(answers, profile).bytes));
  }
  // Not even that a set had too many answers for the compact form.
  const std::vector<Text> many(3001, U"あい");
  const std::vector<AnswerSet> wide = answer_sets({{U"あ"}, {U"い"}, many}, Profile::kLeaderboard);
  const std::vector<AnswerSet> compact = answer_sets({{U"あ"}}, Profile::kLeaderboard);
  CHECK(NgramIndex(builder.build(wide, Profile::kLeaderboard).bytes).is_wide());
  CHECK(!NgramIndex(builder.build(compact, Profile::kLeaderboard).bytes).is_wide());
}

void index_holds_large_alphabets() {
  Random random(3);
  for (const std::size_t n_symbols : {4094U, 4095U, 4096U, 6000U}) {
    Text alphabet;
    for (std::size_t i = 0; i < n_symbols; ++i) alphabet += static_cast<char32_t>(0x20 + 0x61 * i);
    Sets sets(3);
    for (std::size_t i = 0; i < n_symbols; i += 30) sets[random.below(3)].push_back(alphabet.substr(i, 30));
    for (auto& set : sets) {
      for (int i = 0; i < 40; ++i) set.push_back(random.splice(set, alphabet, random.between(0, 30)));
    }
    check_index(random, sets, alphabet);
  }
}

}  // namespace

int main() {
  index_counts_the_documents_of_every_ngram();
  index_holds_large_alphabets();
  index_holds_long_answers();
  index_holds_large_counts();
  a_builder_that_goes_on_builds_the_same();
  return report("ngram_index_test");
}
