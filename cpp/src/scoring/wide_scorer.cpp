#include "scoring/wide_scorer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "formulas/fluency.hpp"
#include "formulas/truthfulness.hpp"

namespace pfgen {
namespace {

WideStates::Levels highest(const WideStates::Levels& a, const WideStates::Levels& b, const WideStates::Levels& c) {
  WideStates::Levels levels;
  for (std::size_t set = 0; set < kSetsPerIndex; ++set) levels.of_sets[set] = std::max({a[set], b[set], c[set]});
  return levels;
}

}  // namespace

// Up to two symbols past the last position that can raise a score, because the 3-grams over that position end there.
// Symbols and pairs that were there before are found on the way, in an answer that is not too long for it; in profile
// paper nothing counts as repeated.
void WideScorer::take_symbols(WideLane& lane, WideMemory& memory) const {
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
  lane.repeated.assign(lane.n + 1, 0);
  lane.earlier.resize(lane.n + 1);
  const bool has_repeats = !is_paper_ && lane.n <= SeenSymbols::kMostSymbols;
  SeenSymbols::Reader seen = memory.seen.begin(alphabet.size());
  for (std::size_t i = 0; i < n; ++i) {
    const Alphabet::Entry entry = alphabet.entry_of(lane.code_points[i]);
    *next++ = entry.symbol();
    lane.counted[i] = entry.counted(is_paper_) & 1;
    if (has_repeats) seen.read(i, entry.symbol(), lane.repeated[i + 1], lane.earlier[i + 1]);
  }
  if (has_end) *next++ = alphabet.symbol_of(kEndMark);
  *next = kUnknown;
}

void WideScorer::score(WideLane& lane, WideMemory& memory) const {
  const Symbol* const symbols = lane.symbols();
  take_positions(lane, memory);
  if (lane.n <= SeenSymbols::kMostSymbols) {
    memory.repeats.find(
        *states_, symbols, lane.matched.data(), lane.earlier.data(),
        [&](const auto& visit) { std::ranges::for_each(memory.candidates, visit); },
        [](const Symbol* a, const Symbol* b, std::uint32_t most) {
          std::uint32_t n = 0;
          while (n < most && *a-- == *b--) ++n;
          return n;
        });
    memory.repeats.subtract(*states_, symbols, group_->index().symbol_counts<WideStates>().data(),
                            memory.contributions.data());
  } else if (!is_paper_) {
    subtract_reached(lane, memory);
  }
  const PerSet<double> fluency_of = fluency(lane, memory);
  if (!is_paper_) {
    for_each_marked_trigram(group_->index().alphabet(), *states_, std::span(symbols, lane.n),
                            [&](std::size_t end, const auto& state) { memory.trigrams[end + 1] = state.levels(); });
  }
  const PerSet<double> truthfulness_of = truthfulness(lane, memory);
  for (std::size_t s = 0; s < group_->n_sets(); ++s) {
    lane.sets.push_back({fluency_of[s] / group_->baseline(s), truthfulness_of[s]});
  }
}

// The contribution of each position to the raw sums: the document frequencies of the n-grams up to `matched` that end
// there, without a repeated single symbol; and the levels of the 3-gram that ends there. The first pass computes the
// common case for all positions, the second corrects the others. This avoids unpredictable branches.
void WideScorer::take_positions(const WideLane& lane, WideMemory& memory) const {
  const WideStates& states = *states_;
  const std::size_t n = lane.n;
  const std::size_t first = is_paper_ ? 0 : 1;  // position in the marked answer of symbol 0
  const std::span of_symbols = group_->index().symbol_counts<WideStates>();
  memory.contributions.resize(n);
  memory.partial.resize(n);
  memory.candidates.resize(n);
  memory.trigrams.assign(n + 4, {});
  WideStates::Counts* contributions = memory.contributions.data();
  std::uint16_t* partial = memory.partial.data();
  std::uint16_t* candidates = memory.candidates.data();
  std::size_t n_partial = 0, n_candidates = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& state = *lane.states[i + 1];
    const std::uint32_t matched = lane.matched[i + 1];
    contributions[i] = state.counts;
    const unsigned repeated = lane.repeated[i + 1];
    contributions[i] -= of_symbols[lane.symbols()[i] & -repeated];  // nothing of kUnknown, where it is not
    partial[n_partial] = static_cast<std::uint16_t>(i);
    n_partial += static_cast<std::size_t>(state.depth() != matched);
    candidates[n_candidates] = static_cast<std::uint16_t>(i);
    n_candidates += repeated & lane.repeated[i] & unsigned{lane.earlier[i + 1] != 0};
    memory.trigrams[first + i] = state.levels().masked(matched >= 3);
    prefetch(&states[state.link_place().state]);  // for positions that the second pass corrects
  }
  memory.candidates.resize(n_candidates);
  for (std::size_t k = 0; k < n_partial; ++k) {
    const std::size_t i = partial[k];
    contributions[i] -= lane.states[i + 1]->counts;
    contributions[i] += counts_up_to(states, *lane.states[i + 1], lane.matched[i + 1]);
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
        const WideStates::Levels* const trigrams = &memory.trigrams[j];  // those over position j
        if (lane.counted[j - 1] != 0) group_->add_support(highest(trigrams[0], trigrams[1], trigrams[2]), totals);
      });
}

}  // namespace pfgen
