// Walks the automata of a question over many answers side by side.
//
// A walk reads a part of an answer. One step looks at one state and one edge; they are asked for when the step before
// has told where they are, and until the memory is there the other walks go on. So there must be many walks: the fewer
// answers, the more parts each is cut into. A walk begins at its own part, and continues past its border until its
// n-grams no longer reach back over the border.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "index/references.hpp"
#include "scoring/lanes.hpp"
#include "system/prefetch.hpp"

namespace pfgen {

// What one thread uses again for all answers.
template <class Lane, class Memory>
struct Workspace {
  Workspace() {
    for (std::size_t number = 0; number < kLanes; ++number) lanes[number].number = number;
  }

  std::array<Lane, kLanes> lanes;
  Memory memory;
};

// `Scorer` is CompactScorer or WideScorer.
template <class Scorer>
class Walker {
 public:
  using Lane = typename Scorer::Lane;
  using Work = Workspace<Lane, typename Scorer::Memory>;

  Walker(const References& references, AnswerSource& source, Work& work) : source_(source), work_(work) {
    for (const SetGroup& group : references.groups()) scorers_.emplace_back(group, references.profile());
    free_.reserve(kLanes);
    for (Lane& lane : work.lanes) free_.push_back(&lane);
  }

  // Scores all answers, which are about `n_answers`.
  void run(std::size_t n_answers) {
    n_parts_ = n_answers >= kMostWalks ? 1 : (kMostWalks + n_answers - 1) / std::max<std::size_t>(1, n_answers);
    if (scorers_.size() == 1) return walk(scorers_.front());
    // With several groups of sets, as many answers as there are lanes are walked in each before the next are taken.
    for (take_answers(); !taken_.empty(); take_answers()) {
      const std::vector<Lane*> lanes = taken_;
      for (const Scorer& scorer : scorers_) {
        taken_ = lanes;
        walk(scorer);
      }
      for (Lane* lane : lanes) done(*lane);
    }
  }

 private:
  using States = typename Lane::States;
  using State = typename States::State;
  using Edge = typename States::Edge;

  static constexpr std::size_t kMostWalks = LaneParts::kMostParts;

  struct alignas(64) Walk {
    const State* state;
    const Edge* edge;
    const typename Lane::Symbol* symbols;
    typename Lane::Stored* stored;  // by the number of symbols before it
    std::uint8_t* stored_matched;   // likewise
    std::uint32_t next;             // symbol
    std::uint32_t place;            // where the state is stored
    std::uint32_t end;
    std::uint32_t border;   // between the own part and the next
    std::uint32_t matched;  // before the state is seen, perhaps more than it holds
    std::uint8_t lane;
    std::uint8_t part;
  };

  void walk(const Scorer& scorer) {
    scorer_ = &scorer;
    open_ = nullptr;
    const Automaton automaton{&scorer.states()[kRoot], &scorer.states().edge(0)};
    Walk* end = walks_.data();
    while (end != walks_.data() + kMostWalks && begin(automaton, *end)) ++end;
    while (end != walks_.data()) {
      for (Walk* walk = walks_.data(); walk != end;) {
        if (step(automaton, *walk) || cross_border(automaton, *walk) || next(automaton, *walk)) {
          ++walk;
        } else {
          *walk = *--end;
        }
      }
    }
  }

  // Of the group that is walked.
  struct Automaton {
    const State* states;
    const Edge* edges;
  };

  // Step 1: store the current state; one stored between two symbols is overwritten. Step 2: read a symbol if the state
  // has an edge for it, otherwise drop to the suffix link (Aho and Corasick 1975). False at the end.
  static bool step(const Automaton& automaton, Walk& walk) {
    const State state = *walk.state;  // a copy, because the compiler must assume that the next line changes it
    walk.stored[walk.place] = Lane::stored(*walk.state);
    const std::uint32_t matched = std::min(walk.matched, state.depth());
    walk.stored_matched[walk.place] = static_cast<std::uint8_t>(matched);
    if (walk.next == walk.end) {
      walk.matched = matched;
      return false;
    }
    read(automaton, walk, state, matched);
    return true;
  }

  static void read(const Automaton& automaton, Walk& walk, const State& state, std::uint32_t matched) {
    bool is_edge;
    const std::uint32_t next = walk.next;
    const Place place = States::next(state, *walk.edge, walk.symbols[next], is_edge);
    walk.place = next + 1;
    walk.next = next + std::uint32_t{is_edge};
    walk.matched = matched + std::uint32_t{is_edge};
    go_to(automaton, walk, place);
  }

  static void go_to(const Automaton& automaton, Walk& walk, Place place) {
    walk.state = automaton.states + place.state;
    walk.edge = automaton.edges + place.base + walk.symbols[walk.next];
    prefetch_many(walk.state);
    prefetch_many(walk.edge);
  }

  // At the end of a part, or behind it: reads one symbol more, unless there the walk that began at the border finds the
  // same.
  bool cross_border(const Automaton& automaton, Walk& walk) {
    Lane& lane = work_.lanes[walk.lane];
    const std::uint32_t n_past = walk.next - walk.border;
    lane.n_past[walk.part] = static_cast<std::uint8_t>(n_past);
    if (walk.matched <= n_past || walk.next == lane.n) return false;
    if (n_past == 0) {
      const std::size_t shift = lane.past(walk.part) - walk.border;
      walk.stored += shift;
      walk.stored_matched += shift;
    }
    ++walk.end;
    read(automaton, walk, *walk.state, walk.matched);
    return true;
  }

  // Begins another part in the place of one that has ended; false if there is none.
  bool next(const Automaton& automaton, Walk& walk) {
    Lane& lane = work_.lanes[walk.lane];
    if (++lane.n_ended == lane.n_parts) finish(lane);
    return begin(automaton, walk);
  }

  bool begin(const Automaton& automaton, Walk& walk) {
    while (open_ == nullptr || open_->n_begun == open_->n_parts) {
      if (!open_next()) return false;
    }
    Lane& lane = *open_;
    const std::size_t part = lane.n_begun++;
    const std::size_t first = part * lane.n_own;
    walk.symbols = lane.symbols();
    walk.stored = lane.states.data();
    walk.stored_matched = lane.matched.data();
    walk.next = static_cast<std::uint32_t>(first);
    walk.place = static_cast<std::uint32_t>(first + 1);
    walk.end = walk.border = static_cast<std::uint32_t>(std::min(first + lane.n_own, lane.n));
    walk.matched = 0;
    walk.lane = static_cast<std::uint8_t>(lane.number);
    walk.part = static_cast<std::uint8_t>(part);
    go_to(automaton, walk, {});
    return true;
  }

  // Opens the next answer for walks; one without symbols is finished at once.
  bool open_next() {
    if (scorers_.size() == 1 && !take_answer()) return false;
    if (taken_.empty()) return false;  // all answers of this round
    open_ = taken_.back();
    taken_.pop_back();
    scorer_->take_symbols(*open_, work_.memory);
    open_->cut(n_parts_);
    if (open_->n == 0) finish(*open_);
    return true;
  }

  bool take_answer() {
    if (free_.empty() || !source_.next(*free_.back())) return false;
    free_.back()->sets.clear();
    taken_.push_back(free_.back());
    free_.pop_back();
    return true;
  }

  void take_answers() {
    while (take_answer()) {
    }
  }

  // Scores the group of sets that has been walked.
  void finish(Lane& lane) {
    // Past its border, a walk found longer n-grams than the next walk.
    for (std::size_t part = 0; part + 1 < lane.n_parts; ++part) {
      const std::size_t from = lane.past(part) + 1, to = (part + 1) * lane.n_own + 1;
      for (std::size_t i = 0; i < lane.n_past[part]; ++i) {
        lane.states[to + i] = lane.states[from + i];
        lane.matched[to + i] = lane.matched[from + i];
      }
    }
    scorer_->score(lane, work_.memory);
    if (scorers_.size() == 1) done(lane);
  }

  void done(Lane& lane) {
    source_.done(lane);
    free_.push_back(&lane);
  }

  std::vector<Scorer> scorers_;
  AnswerSource& source_;
  Work& work_;
  std::array<Walk, kMostWalks> walks_;
  std::size_t n_parts_ = 1;          // of an answer, at most
  const Scorer* scorer_ = nullptr;   // whose automaton is walked
  Lane* open_ = nullptr;             // with parts that no walk has begun
  std::vector<Lane*> taken_, free_;  // answers that are not open yet, and unused lanes
};

}  // namespace pfgen
