// One walk of the automaton over an answer finds, at every position, the longest n-gram that the references
// share (`matched`) and the longest that the answer has shown before (`repeated`). Everything else is sums
// over these positions; profile paper differs in what is walked (marks) and in which sums are taken.
#include "pfgen/scorers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace pfgen {
namespace {

// Beyond this many code points nothing can raise a score: the discount is 0 or less.
constexpr std::size_t kScoringEnd = kTargetLength + kOvershoot;
static_assert(kScoringEnd + 2 <= std::numeric_limits<std::uint8_t>::max(), "positions of pairs are 8-bit numbers");

// The punctuation that truthfulness leaves out (docs/scoring.md, section 3).
bool is_punctuation(char32_t c) noexcept {
  switch (c) {
    case 0x3001: case 0x3002: case 0x30FB: case 0x300C: case 0x300D: case 0x300E: case 0x300F:
    case 0xFF08: case 0xFF09: case 0x3010: case 0x3011: case 0xFF3B: case 0xFF3D:
    case 0x3008: case 0x3009: case 0x300A: case 0x300B:
      return true;
    default:
      return false;
  }
}

bool is_skipped(char32_t c, Profile profile) noexcept {
  return is_punctuation(c) || (profile == Profile::kLeaderboard && (c == U'^' || c == U'$'));
}

// Symbols of the answer as it is walked: up to two past the last position that can raise a score, because the
// 3-grams over that position end there.
void take_symbols(const References& references, Lane& lane) {
  const Alphabet& alphabet = references.index().alphabet();
  const bool is_paper = references.profile() == Profile::kPaper;
  const std::size_t n = std::min(lane.code_points.size(), kScoringEnd + 1);
  lane.symbols.clear();
  if (is_paper) lane.symbols.push_back(alphabet.symbol_of(kBeginMark));
  for (std::size_t i = 0; i < n; ++i) lane.symbols.push_back(alphabet.symbol_of(lane.code_points[i]));
  if (is_paper && n == lane.code_points.size()) lane.symbols.push_back(alphabet.symbol_of(kEndMark));
  lane.positions.resize(lane.symbols.size());
}

std::size_t pair_slot(Symbol first, Symbol second) noexcept {
  return (first * 0x9E3779B1U + second * 0x85EBCA6BU) >> 23;
}
static_assert(Workspace::kPairSlots == std::size_t{1} << (32 - 23));

// Finds `repeated`. What was seen before is closed under suffixes, so the longest is all that matters; and
// it is looked for only where the last two symbols stood together before.
void find_repeats(const NgramIndex& index, Lane& lane, Workspace& work) {
  const std::size_t n = lane.symbols.size();
  const Symbol* symbols = lane.symbols.data();
  if (work.symbol_seen_in.size() <= index.alphabet().size() || ++work.n_answers == 0) {
    work.symbol_seen_in.assign(std::max(work.symbol_seen_in.size(), index.alphabet().size() + 1), 0);
    work.n_answers = 1;
  }
  work.latest.fill(0);
  work.earlier.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    Lane::Position& position = lane.positions[i];
    std::uint32_t& seen_in = work.symbol_seen_in[symbols[i]];
    std::uint32_t longest = seen_in == work.n_answers ? 1 : 0;
    seen_in = work.n_answers;
    if (i > 0) {
      std::uint8_t& latest = work.latest[pair_slot(symbols[i - 1], symbols[i])];
      for (std::size_t at = latest; at != 0 && longest < position.matched; at = work.earlier[at - 1]) {
        const std::size_t other = at - 1;
        std::uint32_t length = 0;
        while (length < position.matched && length <= other && symbols[other - length] == symbols[i - length]) ++length;
        longest = std::max(longest, length);
      }
      work.earlier[i] = latest;
      latest = static_cast<std::uint8_t>(i + 1);
    }
    position.repeated = static_cast<std::uint8_t>(std::min<std::uint32_t>(longest, position.matched));
  }
}

// Calls `work` with the number of sets, as a constant where it is small, so that loops over the sets unroll.
template <class Work>
void with_set_count(std::size_t n_sets, const Work& work) {
  switch (n_sets) {
    case 1: return work(std::integral_constant<std::size_t, 1>());
    case 2: return work(std::integral_constant<std::size_t, 2>());
    case 3: return work(std::integral_constant<std::size_t, 3>());
    case 4: return work(std::integral_constant<std::size_t, 4>());
    default: return work(n_sets);
  }
}

// Adds, for each set from `first`, the document frequencies of all n-grams that end at the position, longer than
// `repeated` and up to `matched`.
template <class SetCount>
void add_new_ngrams(const NgramIndex& index, const Lane::Position& position, std::size_t first, SetCount n_sets,
                    std::uint64_t* raw) {
  const StateId state = position.state;
  const std::uint32_t* cumulative = index.cumulative(state) + first;
  for (std::size_t s = 0; s < n_sets; ++s) raw[s] += cumulative[s];
  if (const std::uint32_t beyond = index.depth(state) - position.matched; beyond != 0) {
    const std::uint32_t* frequency = index.document_frequency(state) + first;
    for (std::size_t s = 0; s < n_sets; ++s) raw[s] -= beyond * frequency[s];
  }
  if (position.repeated == 0) return;

  const StateId start = position.repeated <= 3 && position.matched >= 3 ? index.trigram_state(state) : state;
  const StateId known = index.suffix_state(start, position.repeated);
  const std::uint32_t* known_cumulative = index.cumulative(known) + first;
  for (std::size_t s = 0; s < n_sets; ++s) raw[s] -= known_cumulative[s];
  if (const std::uint32_t beyond = index.depth(known) - position.repeated; beyond != 0) {
    const std::uint32_t* frequency = index.document_frequency(known) + first;
    for (std::size_t s = 0; s < n_sets; ++s) raw[s] += beyond * frequency[s];
  }
}

// Section 2, without the baseline: the best raw(n) * discount(n), for the sets from `first` on. A division by
// the baseline is monotone under rounding, so it may follow the maximum.
void leaderboard_fluency(const NgramIndex& index, const Lane& lane, std::size_t first, std::size_t n_all,
                         Workspace& work) {
  work.raw.assign(n_all, 0);
  work.best.assign(n_all, 0.0);
  const std::size_t n = std::min(lane.symbols.size(), kScoringEnd - 1);
  with_set_count(n_all, [&](auto n_sets) {
    std::uint64_t* raw = work.raw.data();
    double* best = work.best.data();
    for (std::size_t i = 0; i < n; ++i) {
      const Lane::Position& position = lane.positions[i];
      if (position.matched > position.repeated) add_new_ngrams(index, position, first, n_sets, raw);
      // Up to the target length the raw sum grows and the discount is 1: only the last prefix counts.
      if (i + 1 < kTargetLength && i + 1 < n) continue;
      const double left = discount(i + 1);
      for (std::size_t s = 0; s < n_sets; ++s) best[s] = std::max(best[s], static_cast<double>(raw[s]) * left);
    }
  });
}

// Section 7, without the baseline: every n-gram of the marked answer counts, at each position.
void paper_fluency(const References& references, const Lane& lane, std::size_t first, std::size_t n_sets,
                   Workspace& work) {
  work.raw.assign(n_sets, 0);
  work.best.assign(n_sets, 0.0);
  const std::size_t n_code_points = lane.code_points.size();
  if (n_code_points == 0 || n_code_points >= kScoringEnd) return;
  for (const Lane::Position& position : lane.positions) {
    if (position.matched > 0) add_new_ngrams(references.index(), position, first, n_sets, work.raw.data());
  }
  for (std::size_t s = 0; s < n_sets; ++s) {
    work.best[s] = static_cast<double>(work.raw[s]) / references.n_answers(first + s) * discount(n_code_points);
  }
}

StateId trigram_ending_at(const NgramIndex& index, const Lane::Position& position) {
  return position.matched >= 3 ? index.trigram_state(position.state) : kRoot;
}

StateId find_trigram(const NgramIndex& index, Symbol a, Symbol b, Symbol c) {
  const Cursor cursor = index.step(index.step(index.step({}, a), b), c);
  return cursor.matched == 3 ? index.trigram_state(cursor.state) : kRoot;
}

// The 3-grams of "^answer$" by their first position. `^` and `$` are ordinary characters here, which the index
// knows only if a reference holds them.
void take_leaderboard_trigrams(const NgramIndex& index, const Lane& lane, Workspace& work) {
  const std::vector<Symbol>& symbols = lane.symbols;
  const std::size_t n = symbols.size();
  const Symbol begin = index.alphabet().symbol_of(U'^');
  const Symbol end = index.alphabet().symbol_of(U'$');
  work.trigrams.assign(n, kRoot);
  if (n == 0) return;
  if (begin != kUnknown) work.trigrams[0] = find_trigram(index, begin, symbols[0], n == 1 ? end : symbols[1]);
  for (std::size_t i = 1; i + 1 < n; ++i) work.trigrams[i] = trigram_ending_at(index, lane.positions[i + 1]);
  if (n >= 2 && end != kUnknown) work.trigrams[n - 1] = find_trigram(index, symbols[n - 2], symbols[n - 1], end);
}

// The 3-grams of the marked answer by their first position.
void take_paper_trigrams(const NgramIndex& index, const Lane& lane, Workspace& work) {
  work.trigrams.clear();
  for (std::size_t i = 2; i < lane.positions.size(); ++i) {
    work.trigrams.push_back(trigram_ending_at(index, lane.positions[i]));
  }
}

// Whether the last counted character of an answer stands before the target length; then the leaderboard takes its
// score there. A counted character past all that can score still is the last one.
bool ends_before_target(std::span<const char32_t> code_points) {
  for (std::size_t j = kTargetLength; j <= code_points.size(); ++j) {
    if (!is_skipped(code_points[j - 1], Profile::kLeaderboard)) return false;
  }
  return true;
}

// Which code points truthfulness counts, as far as they can raise a score.
void find_counted(const References& references, const Lane& lane, Workspace& work) {
  const std::size_t n = std::min(lane.code_points.size(), kScoringEnd - 1);
  work.counted.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    work.counted[i] = is_skipped(lane.code_points[i], references.profile()) ? 0 : 1;
  }
}

// Sections 3 and 7, for all sets side by side: what one addition waits for, another may use. In both, position j of the
// marked answer holds the answer's code point j - 1, and the profiles differ in the characters they skip and in where a
// score may be taken.
template <class SetCount>
void truthfulness(const References& references, SetCount n_sets, const Lane& lane, Workspace& work) {
  const bool is_paper = references.profile() == Profile::kPaper;
  const std::size_t first_end = is_paper ? std::min(kTargetLength, lane.code_points.size()) : kTargetLength;
  const bool ends_early = !is_paper && ends_before_target(lane.code_points);
  std::fill_n(work.totals.begin(), n_sets, 0.0);
  double count = 0.0;
  for (std::size_t j = 1; j <= work.counted.size(); ++j) {
    const bool counts = work.counted[j - 1] != 0;
    if (counts) {
      const std::uint32_t* around = &work.frequencies[j * n_sets];
      for (std::size_t s = 0; s < n_sets; ++s) {
        const std::uint32_t cover = std::max({around[s], around[n_sets + s], around[2 * n_sets + s]});
        work.totals[s] += references.support(s, cover);
      }
      count += 1.0;
    }
    const bool may_end = j >= first_end && (counts || is_paper);
    if (!may_end || count == 0.0) continue;
    const double left = discount(j);
    for (std::size_t s = 0; s < n_sets; ++s) {
      work.sets[s].truthfulness = std::max(work.sets[s].truthfulness, work.totals[s] / count * left);
    }
  }
  if (!ends_early || count == 0.0) return;
  for (std::size_t s = 0; s < n_sets; ++s) work.sets[s].truthfulness = work.totals[s] / count;
}

// Document frequencies of the 3-grams, all sets of one side by side, with two 3-grams of zeros on either side: those
// that cover position j are number j, j + 1 and j + 2.
void take_frequencies(const NgramIndex& index, Workspace& work) {
  const std::size_t n_sets = index.n_sets();
  work.frequencies.assign((work.trigrams.size() + 4) * n_sets, 0);
  for (std::size_t i = 0; i < work.trigrams.size(); ++i) {
    if (work.trigrams[i] == kRoot) continue;
    std::copy_n(index.document_frequency(work.trigrams[i]), n_sets, &work.frequencies[(i + 2) * n_sets]);
  }
}

void fluency(const References& references, Lane& lane, std::size_t first, std::size_t n_sets, Workspace& work) {
  if (references.profile() == Profile::kPaper) {
    paper_fluency(references, lane, first, n_sets, work);
  } else {
    find_repeats(references.index(), lane, work);
    leaderboard_fluency(references.index(), lane, first, n_sets, work);
  }
}

}  // namespace

std::size_t look_ahead(Profile profile) noexcept {
  // Of "^answer$" truthfulness sees two code points more than the others, one of them of the answer.
  return profile == Profile::kPaper ? std::numeric_limits<std::size_t>::max() : kLookAhead + 1;
}

void walk(const References& references, std::span<Lane> lanes) {
  const NgramIndex& index = references.index();
  std::array<Cursor, kLanes> cursors{};
  std::size_t longest = 0;
  for (Lane& lane : lanes) {
    take_symbols(references, lane);
    longest = std::max(longest, lane.symbols.size());
  }
  for (std::size_t i = 0; i < longest; ++i) {
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      Lane& lane = lanes[l];
      if (i >= lane.symbols.size()) continue;
      const Cursor cursor = index.step(cursors[l], lane.symbols[i]);
      index.prefetch(cursor.state);
      lane.positions[i] = {cursor.state, static_cast<std::uint8_t>(cursor.matched), 0};
      cursors[l] = cursor;
    }
  }
}

double raw_fluency(const References& references, std::size_t set, Lane& lane, Workspace& work) {
  fluency(references, lane, set, 1, work);
  return work.best[0];
}

void score_sets(const References& references, Lane& lane, Workspace& work) {
  fluency(references, lane, 0, references.n_sets(), work);
  find_counted(references, lane, work);
  if (references.profile() == Profile::kPaper) {
    take_paper_trigrams(references.index(), lane, work);
  } else {
    take_leaderboard_trigrams(references.index(), lane, work);
  }
  take_frequencies(references.index(), work);
  work.sets.resize(references.n_sets());
  work.totals.resize(references.n_sets());
  for (std::size_t s = 0; s < references.n_sets(); ++s) work.sets[s] = {work.best[s] / references.baseline(s), 0.0};
  with_set_count(references.n_sets(), [&](auto n_sets) { truthfulness(references, n_sets, lane, work); });
}

namespace {

// The largest truncation with the highest of the scores, which belong to the truncations from `first` on.
Helpfulness best_truncation(std::span<const double> scores, std::size_t first) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] >= scores[best]) best = i;
  }
  return {scores[best], first + best};
}

Helpfulness leaderboard_helpfulness(const KeywordRules& rules, std::size_t n_code_points, Workspace& work) {
  const std::size_t n = std::min(n_code_points, kScoringEnd) + 1;
  work.truncations.resize(n);
  for (std::size_t i = 0; i < n; ++i) work.truncations[i] = discount(i);
  for (std::size_t rule = 0; rule < rules.n_rules(); ++rule) {
    const double left = 1.0 - rules.importances()[rule];
    const std::size_t unmet = std::min<std::size_t>(n, work.rules[rule].position);
    for (std::size_t i = 0; i < unmet; ++i) work.truncations[i] *= left;
  }
  return best_truncation(work.truncations, 0);
}

// The share of the importances that is met at a truncation; 1 where there is nothing to meet.
double met_share(const KeywordRules& rules, std::span<const RulePosition> positions, std::size_t truncation) {
  double met = 0.0;
  double whole = 0.0;
  for (std::size_t rule = 0; rule < rules.n_rules(); ++rule) {
    const double importance = rules.importances()[rule];
    whole += importance;
    if (positions[rule].position <= truncation) met += importance;
  }
  return whole > 0.0 ? met / whole : 1.0;
}

Helpfulness paper_helpfulness(const KeywordRules& rules, std::size_t n, Workspace& work) {
  const std::size_t first = std::min(n, kTargetLength);
  work.truncations.clear();
  for (std::size_t i = first; i <= std::min(n, kScoringEnd); ++i) {
    work.truncations.push_back(discount(i) * met_share(rules, work.rules, i));
  }
  const Helpfulness best = best_truncation(work.truncations, first);
  // Past the scoring end all truncations score 0: if nothing is better, the whole answer is the largest.
  return best.score > 0.0 ? best : Helpfulness{0.0, n};
}

}  // namespace

Helpfulness score_helpfulness(Profile profile, const KeywordRules& rules, std::span<const char32_t> code_points,
                              std::span<const std::uint32_t> regex_positions, Workspace& work) {
  const bool is_paper = profile == Profile::kPaper;
  const std::size_t n = is_paper ? code_points.size() : std::min(code_points.size(), kLookAhead);
  rules.locate({code_points.data(), n}, regex_positions, work.rules);
  return is_paper ? paper_helpfulness(rules, n, work) : leaderboard_helpfulness(rules, n, work);
}

double round_decimal(double value, int digits) noexcept {
  static constexpr std::array<double, 7> kPowers{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  const double power = kPowers[static_cast<std::size_t>(digits)];
  const double scaled = value * power;
  double whole = std::floor(scaled);
  // Exact, because both are multiples of the same power of two. Where it is not 0 it decides; where it is, the
  // product's own rounding error does, and after that the even neighbour.
  const double beyond_half = (scaled - whole) - 0.5;
  const double error = beyond_half == 0.0 ? std::fma(value, power, -scaled) : 0.0;
  const bool is_odd = (static_cast<std::uint64_t>(whole) & 1) != 0;
  if (beyond_half > 0.0 || error > 0.0 || (beyond_half == 0.0 && error == 0.0 && is_odd)) whole += 1.0;
  return whole / power;
}

double sum(std::span<const double> values, FloatSum float_sum) noexcept {
  double total = 0.0;
  double compensation = 0.0;
  for (const double value : values) {
    const double next = total + value;
    compensation += std::abs(total) >= std::abs(value) ? (total - next) + value : (value - next) + total;
    total = next;
  }
  return float_sum == FloatSum::kCompensated ? total + compensation : total;
}

}  // namespace pfgen
