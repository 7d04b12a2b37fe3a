#include "index/state_counts.hpp"

#include <algorithm>

#include "formulas/fluency.hpp"

namespace pfgen {

// Counts each answer once for every state that it reaches: each position counts for the states of all its suffixes,
// except for the states that an earlier position has reached. Both parts are sums over the continuations of a state.
void StateCounts::count(const Automaton& automaton, std::span<const AnswerSet> sets) {
  automaton_ = &automaton;
  sets_ = sets;
  find_short_suffixes();
  frequencies_.assign(states().size() * n_sets(), 0);
  reached_by_.clear();
  n_long_answers_ = 0;
  known_states_.resize(automaton.position_states.size());
  std::size_t position = 0;
  for (std::size_t set = 0; set < n_sets(); ++set) {
    for (const auto& answer : sets_[set]) {
      find_known_states(answer.size(), position);
      for (const std::size_t end = position + answer.size(); position < end; ++position) {
        ++frequencies_[automaton_->position_states[position] * n_sets() + set];
        --frequencies_[known_states_[position] * n_sets() + set];
      }
    }
  }
  for (StateId state = static_cast<StateId>(states().size()) - 1; state > kRoot; --state) {
    for (std::size_t set = 0; set < n_sets(); ++set) {
      frequencies_[states()[state].link * n_sets() + set] += frequencies_[state * n_sets() + set];
    }
  }
  std::fill_n(frequencies_.begin(), n_sets(), 0);
  accumulate();
}

// Parents come before their children.
void StateCounts::find_short_suffixes() {
  short_suffixes_.resize(states().size());
  short_suffixes_[kRoot] = {};  // the suffix without symbols is always the root
  for (StateId id = 1; id < states().size(); ++id) {
    const Automaton::State& state = states()[id];
    for (std::uint32_t length = 1; length < kShort; ++length) {
      short_suffixes_[id][length] = state.link_depth < length ? id : short_suffixes_[state.link][length];
    }
  }
}

// The state of the last `length` symbols of a state's n-gram, which is at least as long.
StateId StateCounts::suffix_of(StateId state, std::uint32_t length) const {
  if (length < kShort) return short_suffixes_[state][length];
  while (states()[state].link_depth >= length) state = states()[state].link;
  return state;
}

// The state of the longest suffix that occurred earlier in the answer, at each of its positions.
void StateCounts::find_known_states(std::size_t n_symbols, std::size_t first) {
  if (is_long(n_symbols)) return climb_to_known_states(n_symbols, first);
  for (std::size_t i = first; i < first + n_symbols; ++i) {
    known_states_[i] = suffix_of(automaton_->position_states[i], automaton_->repeated[i]);
  }
}

// The same for a long answer, by the states of its earlier positions: an answer that has reached a state has also
// reached the states of its suffixes.
void StateCounts::climb_to_known_states(std::size_t n_symbols, std::size_t first) {
  reached_by_.resize(states().size(), 0);
  ++n_long_answers_;
  for (std::size_t i = first; i < first + n_symbols; ++i) {
    StateId state = automaton_->position_states[i];
    for (; state != kRoot && reached_by_[state] != n_long_answers_; state = states()[state].link) {
      reached_by_[state] = n_long_answers_;
    }
    known_states_[i] = state;
  }
}

// Parents come before their children: sums over all suffixes in one pass, and the states of 3-grams.
void StateCounts::accumulate() {
  most_counted_ = 0;
  cumulative_.assign(states().size() * n_sets(), 0);
  trigrams_.assign(states().size(), kRoot);
  for (StateId id = 1; id < states().size(); ++id) {
    const Automaton::State& state = states()[id];
    if (state.depth >= 3) trigrams_[id] = state.link_depth < 3 ? id : trigrams_[state.link];
    const std::uint32_t added = state.depth - state.link_depth;
    for (std::size_t set = 0; set < n_sets(); ++set) {
      const std::uint32_t sum = cumulative_[state.link * n_sets() + set] + added * frequencies_[id * n_sets() + set];
      cumulative_[id * n_sets() + set] = sum;
      most_counted_ = std::max(most_counted_, sum);
    }
  }
}

// The longest n-gram at a position of such an answer is its whole window, and the repeated n-grams are known from
// counting.
std::vector<double> StateCounts::baselines(Profile profile, const Lengths& lengths) const {
  std::vector<double> means;
  std::size_t position = 0;
  for (std::size_t set = 0; set < n_sets(); ++set) {
    const auto n_answers = static_cast<double>(sets_[set].size());
    double total = 0.0;
    for (const auto& answer : sets_[set]) {
      total += with_lengths(lengths, [&](const auto& typed) {
        return profile == Profile::kPaper ? paper_fluency(typed, set, position, answer.size())
                                          : leaderboard_fluency(typed, set, position, answer.size());
      });
      position += answer.size();
    }
    means.push_back(total / n_answers);
  }
  return means;
}

template <class Lengths>
double StateCounts::leaderboard_fluency(const Lengths& lengths, std::size_t set, std::size_t first,
                                        std::size_t n_symbols) const {
  struct Raw {
    const StateCounts& counts;
    std::size_t set, first;
    std::uint64_t sum = 0;

    void add(std::size_t i) {
      sum += counts.cumulative(counts.automaton_->position_states[first + i], set);
      sum -= counts.cumulative(counts.known_states_[first + i], set);
    }
    std::uint64_t operator[](std::size_t) const { return sum; }
  };
  return best_prefix_fluency<1>(lengths, n_symbols, Raw{*this, set, first})[0];
}

template <class Lengths>
double StateCounts::paper_fluency(const Lengths& lengths, std::size_t set, std::size_t first,
                                  std::size_t n_symbols) const {
  std::uint64_t raw = 0;
  for (std::size_t i = 0; i < n_symbols; ++i) raw += cumulative(automaton_->position_states[first + i], set);
  return pfgen::paper_fluency(lengths, raw, static_cast<double>(sets_[set].size()), n_symbols - 2);
}

}  // namespace pfgen
