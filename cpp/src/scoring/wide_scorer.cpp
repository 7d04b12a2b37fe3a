#include "scoring/wide_scorer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "formulas/fluency.hpp"
#include "formulas/truthfulness.hpp"
#include "scoring/marked_trigrams.hpp"

namespace pfgen {

// Up to two symbols past the last position that can raise a score, because the 3-grams over that position end there.
void WideScorer::take_symbols(WideLane& lane, WideMemory&) const {
  const Alphabet& alphabet = group_->index().alphabet();
  const std::size_t n = std::min(lane.code_points.size(), lengths().limit + 1);
  const bool has_end = is_paper_ && n == lane.code_points.size();
  lane.n = n + (is_paper_ ? 1 : 0) + (has_end ? 1 : 0);
  if (const std::size_t room = lane.past(WideLane::kMostParts); lane.states.size() < room) {  // used again unfilled
    lane.all_symbols.resize(room);
    lane.matched.resize(room);
    lane.states.resize(room);
  }
  Symbol* next = lane.symbols();
  if (is_paper_) *next++ = alphabet.symbol_of(kBeginMark);
  lane.counted.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Alphabet::Entry entry = alphabet.entry_of(lane.code_points[i]);
    *next++ = entry.symbol();
    lane.counted[i] = entry.counted(is_paper_) & 1;
  }
  if (has_end) *next++ = alphabet.symbol_of(kEndMark);
  *next = kUnknown;
}

void WideScorer::score(WideLane& lane, WideMemory& memory) const {
  const std::span symbols(lane.symbols(), lane.n);
  const bool is_long = symbols.size() > RepeatFinder::kMostSymbols;
  if (is_paper_ || is_long) {
    memory.repeat_finder.read_nothing(symbols.size());
  } else {
    memory.repeat_finder.read(symbols, n_known_symbols());
  }
  take_positions(lane, memory);
  subtract_repeats(lane, memory);
  if (is_long && !is_paper_) subtract_reached(lane, memory);
  const PerSet<double> fluency_of = fluency(lane, memory);
  if (!is_paper_) {
    for_each_marked_trigram(group_->index().alphabet(), *states_, symbols,
                            [&](std::size_t end, const auto& state) { memory.cover.put(end - 1, state.levels()); });
  }
  memory.cover.finish();
  const PerSet<double> truthfulness_of = truthfulness(lane, memory);
  for (std::size_t s = 0; s < group_->n_sets(); ++s) {
    lane.sets.push_back({fluency_of[s] / group_->baseline(s), truthfulness_of[s]});
  }
}

// The contribution of each position to the raw sums: the document frequencies of the n-grams up to `matched` that end
// there, without a repeated single symbol; and the levels of the 3-gram that ends there. The first pass computes the
// common case for all positions, the second corrects the others. This avoids unpredictable branches.
void WideScorer::take_positions(const WideLane& lane, WideMemory& memory) const {
  const std::span is_repeated = memory.repeat_finder.is_repeated();
  const WideStates& states = *states_;
  const std::size_t n = lane.n;
  const std::size_t first = is_paper_ ? 2 : 1;  // position in the marked answer of symbol 2, less 2
  const std::span of_symbols = group_->index().symbol_counts<WideStates>();
  memory.contributions.resize(n);
  memory.partial.resize(n);
  memory.cover.begin(n);
  WideStates::Counts* contributions = memory.contributions.data();
  std::uint16_t* partial = memory.partial.data();
  std::size_t n_partial = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& state = *lane.states[i + 1];
    const std::uint32_t matched = lane.matched[i + 1];
    contributions[i] = state.counts;
    contributions[i] -=
        of_symbols[lane.symbols()[i] & -Symbol{is_repeated[i]}];  // nothing of kUnknown, where it is not
    partial[n_partial] = static_cast<std::uint16_t>(i);
    n_partial += static_cast<std::size_t>(state.depth() != matched);
    if (i >= first) memory.cover.put(i - first, state.levels().masked(matched >= 3));
    prefetch(&states[state.link_place().state]);  // for positions that the second pass corrects
  }
  for (std::size_t k = 0; k < n_partial; ++k) {
    const std::size_t i = partial[k];
    contributions[i] -= lane.states[i + 1]->counts;
    contributions[i] += counts_up_to(states, *lane.states[i + 1], lane.matched[i + 1]);
  }
}

// Subtracts the n-grams of two or more symbols that already occurred in the answer.
void WideScorer::subtract_repeats(const WideLane& lane, WideMemory& memory) const {
  const std::span symbols(lane.symbols(), lane.n);
  const std::span of_symbols = group_->index().symbol_counts<WideStates>();
  const auto matched = [&](std::size_t i) { return lane.matched[i + 1]; };
  for (const auto [i, length] : memory.repeat_finder.longer_ones(symbols, matched)) {
    const auto& known = suffix_state(*states_, *lane.states[i + 1], length);
    memory.contributions[i] += of_symbols[symbols[i]];
    memory.contributions[i] -= counts_up_to(*states_, known, length);
  }
}

// Subtracts the n-grams that already occurred in a long answer: those of the states that its earlier positions have
// reached, and of the links of these states. Each state is reached for the first time only once, so the time is linear.
void WideScorer::subtract_reached(const WideLane& lane, WideMemory& memory) const {
  memory.reached.begin(group_->index().n_states());
  for (std::size_t i = 0; i < lane.n; ++i) {
    const auto* state = lane.states[i + 1];
    std::uint32_t known = 0;
    for (std::uint32_t length = lane.matched[i + 1]; length > 0 && known == 0;) {
      known = memory.reached.put(static_cast<StateId>(state - &(*states_)[kRoot]), length);
      if (known > 0) break;
      length = state->link_depth();
      state = &(*states_)[state->link_place().state];
    }
    if (known > 0) memory.contributions[i] -= counts_up_to(*states_, *state, known);
  }
}

PerSet<double> WideScorer::fluency(const WideLane& lane, const WideMemory& memory) const {
  struct Raw {
    const WideStates::Counts* contributions;
    WideStates::Sums sums;

    void add(std::size_t i) noexcept { sums.add(contributions[i]); }
    std::uint64_t operator[](std::size_t set) const noexcept { return sums[set]; }
  };
  Raw raw{memory.contributions.data(), {}};
  if (!is_paper_) return best_prefix_fluency<kSetsPerIndex>(lengths(), memory.contributions.size(), raw);
  for (std::size_t i = 0; i < memory.contributions.size(); ++i) raw.add(i);
  PerSet<double> scores{};
  for (std::size_t s = 0; s < group_->n_sets(); ++s) {
    scores[s] = paper_fluency(lengths(), raw[s], group_->n_answers(s), lane.code_points.size());
  }
  return scores;
}

PerSet<double> WideScorer::truthfulness(const WideLane& lane, const WideMemory& memory) const {
  const ScoringPositions positions = is_paper_ ? paper_positions(lengths(), lane.code_points.size())
                                               : leaderboard_positions(lengths(), lane.code_points);
  return best_prefix_truthfulness<kSetsPerIndex>(
      lengths(), positions, std::span(lane.counted).first(std::min(lane.counted.size(), lengths().limit - 1)),
      group_->n_sets(), [&](std::size_t j, PerSet<double>& totals) {
        group_->add_support(memory.cover.at(j).masked(lane.counted[j - 1] != 0), totals);
      });
}

}  // namespace pfgen
