#include "scoring/compact_scorer.hpp"

#include <algorithm>
#include <bit>

#include "formulas/fluency.hpp"
#include "formulas/lengths.hpp"
#include "formulas/truthfulness.hpp"
#include "system/prefetch.hpp"
#include "system/simd.hpp"

namespace pfgen {
namespace {

using simd::Bytes;
using simd::Pair;

using simd::kBytes;

// How many symbols before and at both places are the same, up to sixteen.
std::uint32_t n_common(const std::uint16_t* a, const std::uint16_t* b) noexcept {
  const Bytes first = simd::equal16(Bytes::load(a - 15), Bytes::load(b - 15));
  const Bytes last = simd::equal16(Bytes::load(a - 7), Bytes::load(b - 7));
  return static_cast<std::uint32_t>(std::countl_one(simd::narrow16(first, last).bits() << 16));
}

template <class Visit>
void for_each_bit(const auto& words, const Visit& visit) {
  for (std::size_t word = 0; word < words.size(); ++word) {
    for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
      visit(64 * word + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
}

// The highest of each four bits.
Bytes highest_levels(Bytes a, Bytes b) noexcept {
  const Bytes low = Bytes::all8(0x0F), high = Bytes::all8(0xF0);
  return simd::max8(a & low, b & low) | simd::max8(a & high, b & high);
}

}  // namespace

// Up to two symbols past the last position that can raise a score, because the 3-grams over that position end there.
// Symbols and pairs that were there before are found on the way; in profile paper nothing counts as repeated.
void CompactScorer::take_symbols(CompactLane& lane, CompactMemory& memory) const {
  const Alphabet& alphabet = group_->index().alphabet();
  SeenSymbols::Reader seen = memory.seen.begin(alphabet.size());
  const std::size_t n = std::min(lane.code_points.size(), UsualLengths::limit + 1);
  // Local copies: the compiler must assume that writing a number may change any other object.
  const char32_t* const code_points = lane.code_points.data();
  std::uint16_t* symbols = lane.symbols();
  std::uint16_t* const counted = lane.counted.data();
  std::uint8_t* const earlier = lane.earlier.data() + 1;
  std::uint8_t* const repeated = lane.repeated.data() + 1;
  const bool is_paper = is_paper_;
  if (is_paper) *symbols++ = alphabet.entry_of(kBeginMark).short_symbol();
  for (std::size_t i = 0; i < n; ++i) {
    const Alphabet::Entry entry = alphabet.entry_of(code_points[i]);
    const std::uint16_t symbol = entry.short_symbol();
    symbols[i] = symbol;
    counted[i] = static_cast<std::uint16_t>(entry.counted(is_paper));
    seen.read(i, symbol, repeated[i], earlier[i]);
  }
  lane.n = n;
  if (is_paper) {
    ++lane.n;
    if (n == lane.code_points.size()) symbols[n] = alphabet.entry_of(kEndMark).short_symbol(), ++lane.n;
    lane.repeated.fill(0);
  }
  lane.symbols()[lane.n] = kUnknown;
}

// Memory that a step needs is asked for some steps before.
void CompactScorer::score(CompactLane& lane, CompactMemory& memory) const {
  Positions partial{}, candidates{};
  take_positions(lane, memory, partial, candidates);
  for_each_bit(partial, [&](std::size_t i) { prefetch(&(*states_)[lane.states[i + 1].link_place().state]); });
  memory.repeats.find(
      *states_, lane.symbols(), lane.matched.data(), lane.earlier.data(),
      [&](const auto& visit) { for_each_bit(candidates, visit); },
      [](const auto* a, const auto* b, std::uint32_t) { return n_common(a, b); });
  for_each_bit(partial, [&](std::size_t i) {
    const State& state = lane.states[i + 1];
    memory.contributions[i] -= state.counts - counts_up_to(*states_, state, lane.matched[i + 1]);
  });
  memory.repeats.prefetch_links(*states_);
  if (!is_paper_) {
    for_each_marked_trigram(
        group_->index().alphabet(), *states_, std::span(lane.symbols(), lane.n),
        [&](std::size_t end, const State& state) { memory.trigrams[end] = state.levels().of_sets; });
  }
  const PerSet<double> truthfulness_of = truthfulness(lane, memory);
  memory.repeats.subtract(*states_, lane.symbols(), group_->index().symbol_counts<CompactStates>().data(),
                          memory.contributions.data());
  const PerSet<double> fluency_of = fluency(lane, memory);
  for (std::size_t s = 0; s < group_->n_sets(); ++s) {
    lane.sets.push_back({fluency_of[s] / group_->baseline(s), truthfulness_of[s]});
  }
}

// The contribution of each position to the raw sums, without a repeated single symbol, as if its state held no longer
// n-gram than `matched`; and the levels of the 3-gram that ends there. Finds the positions that need more: whose states
// hold longer n-grams (`partial`), and whose pair of symbols may have been there before (`candidates`).
void CompactScorer::take_positions(CompactLane& lane, CompactMemory& memory, Positions& partial,
                                   Positions& candidates) const {
  const std::size_t n = lane.n;
  const std::uint64_t* const of_symbols = group_->index().symbol_counts<CompactStates>().data();
  const State* const states = lane.states.data() + 1;
  const std::uint16_t* const symbols = lane.symbols();
  const std::uint8_t* const repeated = lane.repeated.data() + 1;
  std::uint64_t* const contributions = memory.contributions.data();
  std::uint16_t* const trigrams = memory.trigrams.data();
  std::uint8_t* const depths = memory.depths.data();
  for (std::size_t i = 0; i < n; ++i) {
    const State state = states[i];
    contributions[i] = state.counts - of_symbols[symbols[i] & -unsigned{repeated[i]}];  // of kUnknown: nothing
    trigrams[i] = state.levels().of_sets;
    depths[i] = static_cast<std::uint8_t>(state.depth());
  }
  const Bytes zero = Bytes::all8(0), one = Bytes::all8(1), two = Bytes::all8(2);
  zero.store(depths + n);
  zero.store(&lane.matched[n + 1]);
  zero.store(&lane.repeated[n + 1]);
  for (std::size_t i = 0; i < n; i += kBytes) {
    const Bytes matched = Bytes::load(&lane.matched[i + 1]);
    const Bytes has_trigram = simd::greater8(matched, two);
    (Bytes::load(trigrams + i) & simd::twice_low(has_trigram)).store(trigrams + i);
    (Bytes::load(trigrams + i + 8) & simd::twice_high(has_trigram)).store(trigrams + i + 8);
    const std::uint64_t is_whole = simd::equal8(Bytes::load(depths + i), matched).bits();
    partial[i / 64] |= (is_whole ^ 0xFFFF) << i % 64;
    const Bytes were_there = Bytes::load(&lane.repeated[i]) & Bytes::load(&lane.repeated[i + 1]);
    const std::uint64_t was_there = (simd::equal8(were_there, one) & simd::greater8(matched, one)).bits();
    const std::uint64_t was_no_pair = simd::equal8(Bytes::load(&lane.earlier[i + 1]), zero).bits();
    candidates[i / 64] |= (was_there & ~was_no_pair) << i % 64;
  }
  zero.store(trigrams + n);
}

PerSet<double> CompactScorer::fluency(const CompactLane& lane, const CompactMemory& memory) const {
  constexpr std::uint64_t kEven = 0x0000FFFF0000FFFFU;
  std::uint64_t even = 0, odd = 0;  // raw sums of two sets each, in their halves
  const auto add = [&](std::size_t i) {
    even += memory.contributions[i] & kEven;
    odd += memory.contributions[i] >> 16 & kEven;
  };
  if (is_paper_) {
    for (std::size_t i = 0; i < lane.n; ++i) add(i);
    PerSet<double> scores{};
    for (std::size_t s = 0; s < group_->n_sets(); ++s) {
      const std::uint64_t raw = (s % 2 == 0 ? even : odd) >> s / 2 * 32 & 0xFFFFFFFF;
      scores[s] = paper_fluency(UsualLengths(), raw, group_->n_answers(s), lane.code_points.size());
    }
    return scores;
  }
  const std::size_t last = std::min(lane.n, UsualLengths::limit - 1);
  const std::size_t first = std::min(last, UsualLengths::target);
  for (std::size_t i = 0; i < first; ++i) add(i);
  Pair best_even = Pair::all(0.0), best_odd = best_even;
  for (std::size_t n = first; n <= last; ++n) {
    const Pair discount = Pair::all(UsualLengths::discount(n));
    best_even = simd::max(best_even, Pair::of_halves(even) * discount);
    best_odd = simd::max(best_odd, Pair::of_halves(odd) * discount);
    if (n < last) add(n);
  }
  PerSet<double> best;
  simd::first_of(best_even, best_odd).store(&best[0]);
  simd::second_of(best_even, best_odd).store(&best[2]);
  return best;
}

PerSet<double> CompactScorer::truthfulness(const CompactLane& lane, CompactMemory& memory) const {
  const std::size_t n = std::min(lane.code_points.size(), UsualLengths::limit - 1);
  // The 3-grams over a code point end with its own symbol and the two behind it.
  const std::uint16_t* const trigrams = memory.trigrams.data() + (is_paper_ ? 1 : 0);
  for (std::size_t i = 0; i < n; i += kBytes / 2) {
    const Bytes first = Bytes::load(trigrams + i), second = Bytes::load(trigrams + i + 1);
    const Bytes highest = highest_levels(highest_levels(first, second), Bytes::load(trigrams + i + 2));
    (highest & Bytes::load(&lane.counted[i])).store(&memory.levels[i]);
  }
  PerSet<double> best{};
  std::fill(best.begin() + static_cast<std::ptrdiff_t>(group_->n_sets()), best.end(), 1.0);  // others cannot rise
  Pair total_a = Pair::all(0.0), total_b = total_a, best_a = Pair::load(&best[0]), best_b = Pair::load(&best[2]);
  const std::array<double, 2>* const support_a = group_->support_of_pair(0);
  const std::array<double, 2>* const support_b = group_->support_of_pair(1);
  const auto add = [&](std::size_t i) {
    const std::uint16_t levels = memory.levels[i];
    total_a = total_a + Pair::load(support_a[levels & 0xFF].data());
    total_b = total_b + Pair::load(support_b[levels >> 8].data());
  };
  const ScoringPositions positions = is_paper_ ? paper_positions(UsualLengths(), lane.code_points.size())
                                               : leaderboard_positions(UsualLengths(), lane.code_points);
  const std::size_t n_before = std::min(n, std::max<std::size_t>(positions.first, 1) - 1);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < n_before; ++i) count += lane.counted[i] & 1U;
  for (std::size_t i = 0; i < n_before; ++i) add(i);
  for (std::size_t i = n_before; i < n; ++i) {
    add(i);
    count += lane.counted[i] & 1U;
    if (count == 0 || !(lane.counted[i] != 0 || positions.at_skipped)) continue;
    const Pair number = Pair::all(static_cast<double>(count));
    const Pair discount = Pair::all(UsualLengths::discount(i + 1));
    best_a = simd::max(best_a, total_a / number * discount);
    best_b = simd::max(best_b, total_b / number * discount);
    // No later position has more left, and no mean of supports is above 1.
    if ((simd::at_least(best_a, discount) & simd::at_least(best_b, discount)) == 3) break;
  }
  if (positions.only_at_last && count != 0) {
    const Pair number = Pair::all(static_cast<double>(count));
    best_a = total_a / number;
    best_b = total_b / number;
  }
  best_a.store(&best[0]);
  best_b.store(&best[2]);
  return best;
}

}  // namespace pfgen
