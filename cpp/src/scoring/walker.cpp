#include "scoring/walker.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pfgen/constants.hpp"
#include "scoring/group_scorer.hpp"

namespace pfgen {
namespace {

// Walks the automata of a question over several answers at a time, one group of sets after the other. One step looks at
// one state and one edge; they are asked for when the step before has told where they are, and until the memory is
// there the other walks go on.
template <class States>
class Walker {
 public:
  Walker(const References& references, AnswerSource& source, Workspace<States>& work) : source_(source), work_(work) {
    for (const SetGroup& group : references.groups()) groups_.emplace_back(group, references.profile());
  }

  // As soon as one answer is done, the next takes its place.
  void score_many() {
    while (n_walks_ < kLanes && begin(walks_[n_walks_], work_.lanes[n_walks_])) ++n_walks_;
    run([this](Walk& walk) { return advance(walk); });
  }

  // With few answers, all walks share one answer. Each walk begins at its own part, and continues past its border until
  // its n-grams no longer reach back over the border.
  void score_few() {
    Lane<States>& lane = work_.lanes[0];
    while (source_.next(lane)) {
      lane.sets.clear();
      for (const GroupScorer<States>& group : groups_) {
        group.take_symbols(lane);
        share(group.states(), lane);
        run([this](Walk& walk) { return cross_border(walk); });
        join(lane);
        group.score(lane, work_);
      }
      source_.done(lane);
    }
  }

 private:
  using State = typename States::State;
  using Edge = typename States::Edge;

  // Reads from `next` to `end`, and writes to the positions behind `position`, the place before `next`.
  struct Walk {
    const State* state;
    const Symbol* next;
    const Edge* edge;
    Position<States>* position;
    std::uint32_t matched;     // before the state is seen, perhaps more than it holds
    Position<States>* stored;  // where the state is stored
    const State* states;
    const Edge* edges;
    const Symbol* end;
    Lane<States>* lane;
    std::size_t group;     // that is walked
    std::size_t part;      // of the answer, where walks share one
    const Symbol* border;  // between the own part and the next
    const Symbol* text_end;
  };

  // Steps all walks side by side; `next` begins another part for one that has ended, or returns false.
  template <class Next>
  void run(const Next& next) {
    for (Walk* end = walks_.data() + n_walks_; end != walks_.data();) {
      for (Walk* walk = walks_.data(); walk != end;) {
        if (!step(*walk) || next(*walk)) {
          ++walk;
        } else {
          *walk = *--end;
        }
      }
    }
    n_walks_ = 0;
  }

  // Takes the next answer that has symbols; false if there is no more answer.
  bool begin(Walk& walk, Lane<States>& lane) {
    while (source_.next(lane)) {
      lane.sets.clear();
      walk.lane = &lane;
      walk.group = 0;
      if (begin_group(walk)) return true;
    }
    return false;
  }

  // Scores the group that has been walked, and begins the next group or answer; false at the end.
  bool advance(Walk& walk) {
    groups_[walk.group].score(*walk.lane, work_);
    ++walk.group;
    return begin_group(walk) || begin(walk, *walk.lane);
  }

  // False if the answer is done.
  bool begin_group(Walk& walk) {
    Lane<States>& lane = *walk.lane;
    for (; walk.group < groups_.size(); ++walk.group) {
      const GroupScorer<States>& group = groups_[walk.group];
      group.take_symbols(lane);
      if (lane.n_symbols > 0) {
        read(walk, group.states(), std::span(lane.symbols).first(lane.n_symbols), lane.positions.data());
        return true;
      }
      group.score(lane, work_);
    }
    source_.done(lane);
    return false;
  }

  // The memory after the symbols must be readable. `position` is the position before the first symbol.
  static void read(Walk& walk, const States& states, std::span<const Symbol> symbols, Position<States>* position) {
    walk.states = &states[kRoot];
    walk.edges = &states.edge(0);
    walk.next = symbols.data();
    walk.end = walk.next + symbols.size();
    walk.position = position;
    walk.stored = position;
    walk.matched = 0;
    go_to(walk, {});
  }

  static void go_to(Walk& walk, Place place) {
    walk.state = walk.states + place.state;
    walk.edge = walk.edges + place.base + *walk.next;
    prefetch(walk.state);
    prefetch(walk.edge);
  }

  // Step 1: store the current state; one stored between two symbols is overwritten. Step 2: read a symbol if the state
  // has an edge for it, otherwise drop to the suffix link (Aho and Corasick 1975). Returns whether the walk is at its
  // end.
  static bool step(Walk& walk) {
    const State& state = *walk.state;
    walk.matched = std::min(walk.matched, state.depth());
    *walk.stored = {state, walk.matched};
    if (walk.next == walk.end) return true;
    bool is_edge;
    const Place place = States::next(state, *walk.edge, *walk.next, is_edge);
    walk.stored = walk.position + 1;
    walk.position += static_cast<std::size_t>(is_edge);
    walk.next += static_cast<std::size_t>(is_edge);
    walk.matched += static_cast<std::uint32_t>(is_edge);
    go_to(walk, place);
    return false;
  }

  // Cuts the symbols of a lane into parts for several walks. A part is at least as long as the longest n-gram, so no
  // n-gram reaches over two borders. Each walk first stores the root, long before the walk of the previous part reaches
  // this place.
  void share(const States& states, Lane<States>& lane) {
    const std::span<const Symbol> symbols = std::span(lane.symbols).first(lane.n_symbols);
    const std::size_t n = symbols.size();
    n_own_ = std::max<std::size_t>(kMaxOrder, (n + kLanes - 1) / kLanes);
    for (std::size_t first = 0; first < n; first += n_own_) {
      Walk& walk = walks_[n_walks_];
      const auto own = symbols.subspan(first, std::min(n_own_, n - first));
      walk.part = n_walks_++;
      walk.border = own.data() + own.size();
      walk.text_end = symbols.data() + n;
      read(walk, states, own, &lane.positions[first]);
    }
  }

  // Reads one symbol more past the border; false if there the next walk, which began at it, finds the same.
  bool cross_border(Walk& walk) {
    const auto n_past = static_cast<std::size_t>(walk.next - walk.border);
    Crossing<States>& crossing = work_.crossing[walk.part];
    crossing.n = n_past;
    if (walk.matched <= n_past || walk.next == walk.text_end) return false;
    if (n_past == 0) walk.position = crossing.positions.data();
    ++walk.end;
    return true;
  }

  // Past its border, a walk found longer n-grams than the next walk.
  void join(Lane<States>& lane) {
    for (std::size_t first = n_own_; first < lane.n_symbols; first += n_own_) {
      const Crossing<States>& crossing = work_.crossing[first / n_own_ - 1];
      std::copy_n(crossing.positions.begin() + 1, crossing.n, lane.positions.data() + first + 1);
    }
  }

  std::vector<GroupScorer<States>> groups_;
  AnswerSource& source_;
  Workspace<States>& work_;
  std::array<Walk, kLanes> walks_;
  std::size_t n_walks_ = 0;
  std::size_t n_own_ = 0;  // symbols of a part
};

}  // namespace

void score_sets(const References& references, std::size_t n_answers, AnswerSource& source, Workspaces& work) {
  const auto score = [&](auto walker) {
    if (n_answers <= kFewAnswers) {
      walker.score_few();
    } else {
      walker.score_many();
    }
  };
  if (references.groups().front().index().is_wide()) {
    score(Walker<WideStates>(references, source, work.wide));
  } else {
    score(Walker<CompactStates>(references, source, work.compact));
  }
}

}  // namespace pfgen
