#include "scoring/group_scorer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "formulas/fluency.hpp"
#include "formulas/truthfulness.hpp"
#include "scoring/cover.hpp"

namespace pfgen {

namespace {

// Memory for `n` items; existing memory is reused without filling it.
template <class T>
void make_room(std::vector<T>& items, std::size_t n) {
  if (items.size() < n) items.resize(n);
}

}  // namespace

// Up to two symbols past the last position that can raise a score, because the 3-grams over that position end there.
template <class States>
void GroupScorer<States>::take_symbols(Lane<States>& lane) const {
  const Alphabet& alphabet = group_->index().alphabet();
  const std::size_t n = std::min(lane.code_points.size(), lengths().limit + 1);
  const bool has_end = is_paper_ && n == lane.code_points.size();
  lane.n_symbols = n + (is_paper_ ? 1 : 0) + (has_end ? 1 : 0);
  make_room(lane.symbols, lane.n_symbols + 1);
  make_room(lane.positions, lane.n_symbols + 1);
  Symbol* next = lane.symbols.data();
  if (is_paper_) *next++ = alphabet.symbol_of(kBeginMark);
  for (std::size_t i = 0; i < n; ++i) *next++ = alphabet.symbol_of(lane.code_points[i]);
  if (has_end) *next++ = alphabet.symbol_of(kEndMark);
  *next = kUnknown;
}

template <class States>
void GroupScorer<States>::score(Lane<States>& lane, Workspace<States>& work) const {
  const std::span positions = std::span(lane.positions).subspan(1, lane.n_symbols);
  const std::span symbols = std::span(lane.symbols).first(lane.n_symbols);
  const bool is_long = symbols.size() > RepeatFinder::kMostSymbols;
  if (is_paper_ || is_long) {
    work.repeat_finder.read_nothing(symbols.size());
  } else {
    work.repeat_finder.read(symbols, n_known_symbols());
  }
  take_positions(symbols, positions, work);
  subtract_repeats(symbols, positions, work);
  if constexpr (std::is_same_v<States, WideStates>) {
    if (is_long && !is_paper_) subtract_reached(positions, work);
  }
  const PerSet<double> fluency_of = fluency(lane, work);
  if (!is_paper_) {
    for_each_marked_trigram(group_->index().alphabet(), *states_, symbols,
                            [&](std::size_t number, const auto& state) { work.cover.put(number, state.levels()); });
  }
  work.cover.finish();
  find_counted(lengths(), lane.code_points, !is_paper_, work.counted);
  const PerSet<double> truthfulness_of = truthfulness(lane, work);
  for (std::size_t s = 0; s < group_->n_sets(); ++s) {
    lane.sets.push_back({fluency_of[s] / group_->baseline(s), truthfulness_of[s]});
  }
}

// The contribution of each position to the raw sums: the document frequencies of the n-grams up to `matched` that end
// there, without a repeated single symbol; and the levels of the 3-gram that ends there. The first pass computes the
// common case for all positions, the second corrects the others. This avoids unpredictable branches.
template <class States>
void GroupScorer<States>::take_positions(std::span<const Symbol> symbols, Positions positions,
                                         Workspace<States>& work) const {
  const std::span is_repeated = work.repeat_finder.is_repeated();
  const States& states = *states_;
  const std::size_t n = positions.size();
  const std::size_t first = is_paper_ ? 2 : 1;  // position in the marked answer of symbol 2, less 2
  const std::span of_symbols = group_->index().template symbol_counts<States>();
  work.contributions.resize(n);
  work.partial.resize(n);
  work.cover.begin(n);
  typename States::Counts* contributions = work.contributions.data();
  std::uint16_t* partial = work.partial.data();
  std::size_t n_partial = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& state = positions[i].state();
    const std::uint32_t matched = positions[i].matched();
    contributions[i] = state.counts;
    contributions[i] -= of_symbols[symbols[i] & -Symbol{is_repeated[i]}];  // nothing of kUnknown, where it is not
    partial[n_partial] = static_cast<std::uint16_t>(i);
    n_partial += static_cast<std::size_t>(state.depth() != matched);
    if (i >= first) work.cover.put(i - first, state.levels().masked(matched >= 3));
    prefetch(&states[state.link_place().state]);  // for positions that the second pass corrects
  }
  for (std::size_t k = 0; k < n_partial; ++k) {
    const Position<States>& position = positions[partial[k]];
    contributions[partial[k]] -= position.state().counts;
    contributions[partial[k]] += counts_up_to(states, position.state(), position.matched());
  }
}

// Subtracts the n-grams of two or more symbols that already occurred in the answer.
template <class States>
void GroupScorer<States>::subtract_repeats(std::span<const Symbol> symbols, Positions positions,
                                           Workspace<States>& work) const {
  const std::span of_symbols = group_->index().template symbol_counts<States>();
  const auto matched = [&](std::size_t i) { return positions[i].matched(); };
  for (const auto [i, length] : work.repeat_finder.longer_ones(symbols, matched)) {
    const auto& known = suffix_state(*states_, positions[i].state(), length);
    work.contributions[i] += of_symbols[symbols[i]];
    work.contributions[i] -= counts_up_to(*states_, known, length);
  }
}

// Subtracts the n-grams that already occurred in a long answer: those of the states that its earlier positions have
// reached, and of the links of these states. Each state is reached for the first time only once, so the time is linear.
template <class States>
void GroupScorer<States>::subtract_reached(Positions positions, Workspace<States>& work) const {
  work.reached.begin(group_->index().n_states());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto* state = &positions[i].state();
    std::uint32_t known = 0;
    for (std::uint32_t length = positions[i].matched(); length > 0 && known == 0;) {
      known = work.reached.put(static_cast<StateId>(state - &(*states_)[kRoot]), length);
      if (known > 0) break;
      length = state->link_depth();
      state = &(*states_)[state->link_place().state];
    }
    if (known > 0) work.contributions[i] -= counts_up_to(*states_, *state, known);
  }
}

template <class States>
PerSet<double> GroupScorer<States>::fluency(const AnswerLane& lane, const Workspace<States>& work) const {
  struct Raw {
    const typename States::Counts* contributions;
    typename States::Sums sums;

    void add(std::size_t i) noexcept { sums.add(contributions[i]); }
    std::uint64_t operator[](std::size_t set) const noexcept { return sums[set]; }
  };
  Raw raw{work.contributions.data(), {}};
  if (!is_paper_) return best_prefix_fluency<kSetsPerIndex>(lengths(), work.contributions.size(), raw);
  for (std::size_t i = 0; i < work.contributions.size(); ++i) raw.add(i);
  PerSet<double> scores{};
  for (std::size_t s = 0; s < group_->n_sets(); ++s) {
    scores[s] = paper_fluency(lengths(), raw[s], group_->n_answers(s), lane.code_points.size());
  }
  return scores;
}

template <class States>
PerSet<double> GroupScorer<States>::truthfulness(const AnswerLane& lane, const Workspace<States>& work) const {
  const ScoringPositions positions = is_paper_ ? paper_positions(lengths(), lane.code_points.size())
                                               : leaderboard_positions(lengths(), lane.code_points);
  return best_prefix_truthfulness<kSetsPerIndex>(
      lengths(), positions, work.counted, group_->n_sets(), [&](std::size_t j, PerSet<double>& totals) {
        group_->add_support(work.cover.at(j).masked(work.counted[j - 1] != 0), totals);
      });
}

template class GroupScorer<CompactStates>;
template class GroupScorer<WideStates>;

}  // namespace pfgen
