// Document frequencies of the states of an automaton, and the baselines that follow from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/automaton.hpp"
#include "pfgen/constants.hpp"

namespace pfgen {

// Reuses its memory for the next question. Not thread-safe.
class StateCounts {
 public:
  // Counts for up to kSetsPerIndex sets. Borrows both arguments until the next call.
  void count(const Automaton& automaton, std::span<const AnswerSet> sets);

  // The sum of the document frequencies of a state's n-gram and of all its suffixes.
  std::uint32_t cumulative(StateId state, std::size_t set) const { return cumulative_[state * n_sets() + set]; }
  std::uint32_t most_counted() const noexcept { return most_counted_; }
  // The document frequency of the 3-gram at the end of a state's n-gram; 0 if the n-gram is shorter.
  std::uint32_t of_trigram(StateId state, std::size_t set) const {
    return frequencies_[trigrams_[state] * n_sets() + set];
  }
  // The mean fluency of each set's own answers.
  std::vector<double> baselines(Profile profile, const Lengths& lengths) const;

 private:
  static constexpr std::uint32_t kShort = 4;  // shorter suffixes are looked up, longer suffixes are found by links

  std::size_t n_sets() const noexcept { return sets_.size(); }
  const std::vector<Automaton::State>& states() const noexcept { return automaton_->states; }

  void find_short_suffixes();
  StateId suffix_of(StateId state, std::uint32_t length) const;
  void find_known_states(std::size_t n_symbols, std::size_t first);
  void climb_to_known_states(std::size_t n_symbols, std::size_t first);
  void accumulate();
  template <class Lengths>
  double leaderboard_fluency(const Lengths& lengths, std::size_t set, std::size_t first, std::size_t n_symbols) const;
  template <class Lengths>
  double paper_fluency(const Lengths& lengths, std::size_t set, std::size_t first, std::size_t n_symbols) const;

  const Automaton* automaton_ = nullptr;
  std::span<const AnswerSet> sets_;
  std::vector<std::array<StateId, kShort>> short_suffixes_;  // per state: the states of its suffixes, by their length
  std::vector<StateId> known_states_;      // per position: the state of the longest suffix that occurred earlier
  std::vector<std::uint32_t> reached_by_;  // per state: the latest long answer that has reached it
  std::uint32_t n_long_answers_ = 0;
  std::vector<std::uint32_t> frequencies_;  // per state and set
  std::vector<std::uint32_t> cumulative_;   // per state and set
  std::vector<StateId> trigrams_;           // per state: the state of the 3-gram at its end
  std::uint32_t most_counted_ = 0;
};

}  // namespace pfgen
