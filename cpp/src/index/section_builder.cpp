// Builds the automaton from sorted windows instead of growing it symbol by symbol.
//
// The window of a position is the n-gram of up to 10 symbols that ends there, read backwards. Sorted, the
// distinct windows of all answers form a trie whose branching points and ends are just the states: the
// suffixes of a window are its prefixes in the trie, and a link leads to the parent. What repeats in the
// references (most of it) is hashed away before anything is sorted.
#include "index/section_builder.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "formulas/fluency.hpp"
#include "formulas/support.hpp"
#include "index/repeated_suffixes.hpp"
#include "index/row_placement.hpp"
#include "index/section_shape.hpp"
#include "index/suffix_tree.hpp"
#include "index/window.hpp"
#include "index/window_table.hpp"
#include "pfgen/error.hpp"
#include "system/large_pages.hpp"

namespace pfgen {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Memory for a section, zeroed. What calloc has fresh from the system is zero already.
Section allocate(std::uint64_t n_bytes) {
  std::size_t space = n_bytes + Section::kAlignment;
  void* memory = std::calloc(space, 1);
  if (memory == nullptr) throw std::bad_alloc();
  prefer_large_pages(memory, space);
  const std::shared_ptr<void> owner(memory, [](void* p) { std::free(p); });
  const auto* bytes = static_cast<const std::byte*>(std::align(Section::kAlignment, n_bytes, memory, space));
  return {{bytes, n_bytes}, owner};
}

// States that occur less often are sorted by counting.
constexpr std::uint32_t kFewOccurrences = 1024;

template <std::size_t kWords>
class IndexBuilder {
 public:
  // The bytes of the index; none if it does not fit the form of states that is asked for.
  std::optional<Section> build(const Alphabet& alphabet, std::span<const AnswerSet> sets, Profile profile,
                               bool is_wide) {
    begin(alphabet, sets, profile);
    if (!is_wide && !may_be_compact()) return std::nullopt;
    collect_windows();
    tree_.build(windows_.entries(), alphabet.size());
    connect();
    number_states();
    count_documents();
    accumulate();
    const Edges edges = edges_by_state();
    const Placement placement = place_rows(edges.rows());
    if (is_wide) return write<WideStates>(edges, placement);
    if (!fits_compact(placement)) return std::nullopt;
    return write<CompactStates>(edges, placement);
  }

 private:
  using Node = typename SuffixTree<kWords>::Node;
  // A node and its occurrences.
  struct CountedNode {
    std::uint32_t node;
    std::uint32_t n_occurrences;
  };
  struct NewState {
    StateId link;
    std::uint32_t depth;
    std::uint32_t link_depth;
  };
  struct NewEdge {
    StateId from;
    Symbol symbol;
    StateId to;
  };

  static constexpr std::uint32_t kShort = 4;  // suffixes of fewer symbols are looked up, longer ones climbed to

  // Empties what was built before, and keeps its memory.
  void begin(const Alphabet& alphabet, std::span<const AnswerSet> sets, Profile profile) {
    alphabet_ = &alphabet;
    sets_ = sets;
    n_sets_ = sets.size();
    profile_ = profile;
    highest_levels_ = {};
    for (std::size_t set = 0; set < n_sets_; ++set) {
      highest_levels_[set] =
          static_cast<std::uint32_t>(support_by_frequency(static_cast<double>(sets[set].size())).size() - 1);
    }
    most_counted_ = 0;
    edges_.clear();
  }

  void collect_windows() {
    std::size_t n_positions = 0;
    for (const AnswerSet& set : sets_) {
      for (const auto& answer : set) n_positions += answer.size();
    }
    if (n_positions >= kNone / 4) {
      throw CompileError("a question holds " + std::to_string(n_positions) + " code points of references; at most " +
                         std::to_string(kNone / 4) + " can be indexed");
    }
    windows_.clear(n_positions);
    repeats_.prepare(alphabet_->size());
    repeated_.resize(n_positions);
    std::uint8_t* repeated = repeated_.data();
    for (const AnswerSet& set : sets_) {
      for (const auto& answer : set) {
        const std::span<const Window<kWords>> windows = windows_of(answer);
        windows_.add(windows);
        if (is_long(answer)) {
          std::fill_n(repeated, answer.size(), std::uint8_t{0});
        } else {
          repeats_.find(windows, repeated);
        }
        repeated += answer.size();
      }
    }
  }

  std::span<const Window<kWords>> windows_of(std::span<const char32_t> answer) {
    answer_windows_.resize(std::max(answer_windows_.size(), answer.size()));
    Window<kWords> window;
    for (std::size_t i = 0; i < answer.size(); ++i) {
      window.push(alphabet_->symbol_of(answer[i]));
      answer_windows_[i] = window;
    }
    return {answer_windows_.data(), answer.size()};
  }

  // Whether comparing places is left out, and what the answer repeats is found by climbing.
  static bool is_long(std::span<const char32_t> answer) {
    return answer.size() > RepeatedSuffixes<kWords>::kMaxWindows;
  }

  // Continuations, from node to node. A window tells what follows the one before it, and all suffixes of that. In the
  // order of the references, it brings something new just for those suffixes that come for the first time.
  void connect() {
    const std::span<const Node> nodes = tree_.nodes();
    const std::span<const std::uint32_t> leaves = tree_.leaves();
    const std::span<const typename WindowTable<kWords>::Entry> entries = windows_.entries();
    edges_.reserve(nodes.size() * 2);
    by_first_occurrence_.clear();
    has_come_.assign(nodes.size(), false);
    has_come_[kRoot] = true;
    for_each_ahead(
        leaves.size(), [&](std::size_t i) { prefetch(&nodes[leaves[i]]); },
        [&](std::size_t i) {
          std::uint32_t to = leaves[i];
          if (has_come_[to]) return;
          const std::uint32_t before = entries[i].before;
          std::uint32_t from = before == kNone ? kRoot : continued_as(leaves[before]);
          const Symbol symbol = entries[i].window[0];
          while (!has_come_[to]) {
            has_come_[to] = true;
            by_first_occurrence_.push_back({to, nodes[to].n_occurrences});
            const std::uint32_t parent = nodes[to].parent;
            const std::uint32_t parent_depth = nodes[parent].depth;
            for (;;) {
              edges_.push_back({from, symbol, to});
              if (from == kRoot) break;
              from = nodes[from].parent;
              if (nodes[from].depth < parent_depth) break;
            }
            to = parent;
          }
        });
  }

  // The node whose continuations a node has: a window of full length goes on without its first symbol.
  std::uint32_t continued_as(std::uint32_t node) const {
    const Node& full = tree_.nodes()[node];
    return full.depth == kMaxOrder && tree_.nodes()[full.parent].depth == kMaxOrder - 1 ? full.parent : node;
  }

  // States are the nodes, most frequent first. A parent occurs more often than each of its children,
  // so its number is smaller.
  void number_states() {
    const std::span<const Node> nodes = tree_.nodes();
    const std::vector<std::uint32_t> order = by_falling_occurrences();
    state_of_node_.resize(nodes.size());
    for (StateId state = 0; state < order.size(); ++state) state_of_node_[order[state]] = state;

    states_.resize(nodes.size());
    for_each_ahead(
        order.size(), [&](std::size_t i) { prefetch(&nodes[order[i]]); },
        [&](std::size_t i) {
          const Node& node = nodes[order[i]];
          states_[i] = {state_of_node_[node.parent], node.depth, nodes[node.parent].depth};
        });
    for (NewEdge& edge : edges_) edge = {state_of_node_[edge.from], edge.symbol, state_of_node_[edge.to]};
    state_of_window_.clear();
    for (const std::uint32_t leaf : tree_.leaves()) state_of_window_.push_back(state_of_node_[leaf]);
  }

  // All nodes; those that occur equally often as they come in the references, so that what is read one after the other
  // lies side by side. Nearly all nodes occur only a few times.
  std::vector<std::uint32_t> by_falling_occurrences() const {
    std::vector<CountedNode> frequent;
    std::vector<std::uint32_t> begin(kFewOccurrences + 1);  // place of the first node by kFewOccurrences - 1 - n
    for (const CountedNode& counted : by_first_occurrence_) {
      if (counted.n_occurrences >= kFewOccurrences) {
        frequent.push_back(counted);
      } else {
        ++begin[kFewOccurrences - counted.n_occurrences];
      }
    }
    std::ranges::stable_sort(frequent, std::greater(), &CountedNode::n_occurrences);
    std::vector<std::uint32_t> order(1, kRoot);
    for (const CountedNode& counted : frequent) order.push_back(counted.node);
    begin[0] = static_cast<std::uint32_t>(order.size());
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    order.resize(tree_.nodes().size());
    for (const CountedNode& counted : by_first_occurrence_) {
      const std::uint32_t n = counted.n_occurrences;
      if (n < kFewOccurrences) order[begin[kFewOccurrences - 1 - n]++] = counted.node;
    }
    return order;
  }

  // Counts each answer once for every state that it reaches: each of its positions for the states of all suffixes, less
  // those that an earlier position has reached. The former are sums over what continues a state, and so are the latter.
  void count_documents() {
    find_short_suffixes();
    frequencies_.assign(states_.size() * n_sets_, 0);
    reached_by_.clear();
    n_long_answers_ = 0;
    known_states_.resize(windows_.numbers().size());
    position_states_.resize(windows_.numbers().size());
    std::size_t position = 0;
    for (std::size_t set = 0; set < n_sets_; ++set) {
      for (const auto& answer : sets_[set]) {
        find_states(answer, position);
        for (const std::size_t end = position + answer.size(); position < end; ++position) {
          ++frequencies_[position_states_[position] * n_sets_ + set];
          --frequencies_[known_states_[position] * n_sets_ + set];
        }
      }
    }
    for (StateId state = static_cast<StateId>(states_.size()) - 1; state > kRoot; --state) {
      for (std::size_t set = 0; set < n_sets_; ++set) {
        frequencies_[states_[state].link * n_sets_ + set] += frequencies_[state * n_sets_ + set];
      }
    }
    std::fill_n(frequencies_.begin(), n_sets_, 0);
  }

  // Parents come before their children.
  void find_short_suffixes() {
    short_suffixes_.resize(states_.size());
    short_suffixes_[kRoot] = {};  // and that of no symbols is the root everywhere
    for (StateId id = 1; id < states_.size(); ++id) {
      const NewState& state = states_[id];
      for (std::uint32_t length = 1; length < kShort; ++length) {
        short_suffixes_[id][length] = state.link_depth < length ? id : short_suffixes_[state.link][length];
      }
    }
  }

  // The state of the last `length` symbols of a state's n-gram, which is at least as long.
  StateId suffix_of(StateId state, std::uint32_t length) const {
    if (length < kShort) return short_suffixes_[state][length];
    while (states_[state].link_depth >= length) state = states_[state].link;
    return state;
  }

  // The states of an answer's windows, and what the answer has shown before.
  void find_states(std::span<const char32_t> answer, std::size_t first) {
    for (std::size_t i = first; i < first + answer.size(); ++i) {
      position_states_[i] = state_of_window_[windows_.numbers()[i]];
      known_states_[i] = suffix_of(position_states_[i], repeated_[i]);
    }
    if (is_long(answer)) climb_to_known_states(answer.size(), first);
  }

  // What a long answer has shown before, by the traces of its earlier positions: where it has reached a state, it has
  // reached that of each suffix too.
  void climb_to_known_states(std::size_t n_symbols, std::size_t first) {
    reached_by_.resize(states_.size(), 0);
    ++n_long_answers_;
    for (std::size_t i = first; i < first + n_symbols; ++i) {
      StateId state = position_states_[i];
      for (; state != kRoot && reached_by_[state] != n_long_answers_; state = states_[state].link) {
        reached_by_[state] = n_long_answers_;
      }
      known_states_[i] = state;
    }
  }

  // Parents come before their children: sums over all suffixes in one pass, and the states of 3-grams.
  void accumulate() {
    cumulative_.assign(states_.size() * n_sets_, 0);
    trigrams_.assign(states_.size(), kRoot);
    for (StateId id = 1; id < states_.size(); ++id) {
      const NewState& state = states_[id];
      if (state.depth >= 3) trigrams_[id] = state.link_depth < 3 ? id : trigrams_[state.link];
      const std::uint32_t added = state.depth - state.link_depth;
      for (std::size_t set = 0; set < n_sets_; ++set) {
        const std::uint32_t sum = cumulative_[state.link * n_sets_ + set] + added * frequencies_[id * n_sets_ + set];
        cumulative_[id * n_sets_ + set] = sum;
        most_counted_ = std::max(most_counted_, sum);
      }
    }
  }

  // The mean fluency of each set's own answers. What is longest at a position of theirs is its whole window, and what
  // the answer has shown before is where counting met its own trace.
  std::vector<double> baselines() const {
    std::vector<double> means;
    std::size_t position = 0;
    for (std::size_t set = 0; set < n_sets_; ++set) {
      const auto n_answers = static_cast<double>(sets_[set].size());
      double total = 0.0;
      for (const auto& answer : sets_[set]) {
        total += profile_ == Profile::kPaper ? paper_fluency(set, position, answer.size())
                                             : leaderboard_fluency(set, position, answer.size());
        position += answer.size();
      }
      means.push_back(total / n_answers);
    }
    return means;
  }

  double leaderboard_fluency(std::size_t set, std::size_t first, std::size_t n_symbols) const {
    struct Raw {
      const IndexBuilder& builder;
      std::size_t set, first;
      std::uint64_t sum = 0;

      void add(std::size_t i) {
        sum += builder.cumulative_[builder.position_states_[first + i] * builder.n_sets_ + set];
        sum -= builder.cumulative_[builder.known_states_[first + i] * builder.n_sets_ + set];
      }
      std::uint64_t operator[](std::size_t) const { return sum; }
    };
    return best_fluency<1>(UsualLengths(), n_symbols, Raw{*this, set, first})[0];
  }

  double paper_fluency(std::size_t set, std::size_t first, std::size_t n_symbols) const {
    std::uint64_t raw = 0;
    for (std::size_t i = 0; i < n_symbols; ++i) raw += cumulative_[position_states_[first + i] * n_sets_ + set];
    return pfgen::paper_fluency(raw, static_cast<double>(sets_[set].size()), n_symbols - 2);
  }

  // The edges of each state side by side.
  struct Edges {
    std::vector<std::uint32_t> begin;  // of each state's edges, and the end of the last
    std::vector<Symbol> symbols;
    std::vector<StateId> targets;

    Rows rows() const { return {begin, symbols}; }
  };

  // Those of the references, and one more: from the root to itself with whatever they do not hold.
  Edges edges_by_state() const {
    Edges edges{std::vector<std::uint32_t>(states_.size() + 1), std::vector<Symbol>(edges_.size() + 1),
                std::vector<StateId>(edges_.size() + 1)};
    edges.begin[kRoot + 1] = 1;
    for (const NewEdge& edge : edges_) ++edges.begin[edge.from + 1];
    std::partial_sum(edges.begin.begin(), edges.begin.end(), edges.begin.begin());
    edges.symbols[0] = kUnknown;
    edges.targets[0] = kRoot;
    std::vector<std::uint32_t> next(edges.begin.begin(), edges.begin.end() - 1);
    ++next[kRoot];
    const auto soon = [&](std::size_t i) { prefetch(&edges.symbols[next[edges_[i].from]]); };
    for_each_ahead(edges_.size(), soon, [&](std::size_t i) {
      const std::uint32_t at = next[edges_[i].from]++;
      edges.symbols[at] = edges_[i].symbol;
      edges.targets[at] = edges_[i].to;
    });
    return edges;
  }

  // As far as can be said before anything is built.
  bool may_be_compact() const {
    return alphabet_->size() <= CompactStates::kMaxSymbol &&
           std::ranges::all_of(highest_levels_, [](std::uint32_t level) { return level <= CompactStates::kMaxLevel; });
  }

  bool fits_compact(const Placement& placement) const {
    return states_.size() <= CompactStates::kMaxStates && placement.n_slots <= CompactStates::kMaxSlots &&
           most_counted_ <= CompactStates::kMaxCount;
  }

  template <class States>
  Section write(const Edges& edges, const Placement& placement) const {
    const SectionHeader header{static_cast<std::uint32_t>(n_sets_),
                               static_cast<std::uint32_t>(alphabet_->size()),
                               static_cast<std::uint32_t>(states_.size()),
                               std::is_same_v<States, WideStates> ? 1U : 0U,
                               placement.n_slots,
                               0};
    const SectionShape shape(header);
    Section section = allocate(shape.end);
    auto* bytes = const_cast<std::byte*>(section.bytes.data());  // nobody else has seen them yet
    std::memcpy(bytes, &header, sizeof header);
    write_sets(bytes + shape.sets);
    std::ranges::copy(std::as_bytes(alphabet_->code_points()),
                      bytes + shape.code_points);  // none if all answers are empty
    const std::vector<Place> places = places_of_states(placement);
    auto* states = reinterpret_cast<typename States::State*>(bytes + shape.states);
    for (StateId id = 0; id < states_.size(); ++id) states[id] = States::state(content(id, places));
    auto* slots = reinterpret_cast<typename States::Edge*>(bytes + shape.edges);
    std::fill_n(slots, placement.n_slots, States::kNoEdge);
    for (StateId from = 0; from < states_.size(); ++from) {
      for (std::uint32_t i = edges.begin[from]; i < edges.begin[from + 1]; ++i) {
        const Symbol symbol = edges.symbols[i];
        slots[placement.bases[from] + symbol] = States::edge(symbol, places[edges.targets[i]]);
      }
    }
    return section;
  }

  // Each state with the base where its continuations are: a window of full length goes on without its first symbol.
  std::vector<Place> places_of_states(const Placement& placement) const {
    std::vector<Place> places;
    places.reserve(states_.size());
    for (StateId id = 0; id < states_.size(); ++id) {
      const NewState& state = states_[id];
      const bool is_full = state.depth == kMaxOrder && state.link_depth == kMaxOrder - 1;
      places.push_back({id, placement.bases[is_full ? state.link : id]});
    }
    return places;
  }

  void write_sets(std::byte* out) const {
    std::vector<SetHeader> headers(n_sets_);
    const std::vector<double> means = baselines();
    for (std::size_t set = 0; set < n_sets_; ++set) headers[set] = {sets_[set].size(), means[set]};
    std::memcpy(out, headers.data(), headers.size() * sizeof(SetHeader));
  }

  StateContent content(StateId id, std::span<const Place> places) const {
    StateContent content{places[states_[id].link], states_[id].depth, states_[id].link_depth, {}, {}};
    for (std::size_t set = 0; set < n_sets_; ++set) {
      content.cumulative[set] = cumulative_[id * n_sets_ + set];
      // The root's frequencies are 0, as are those of what is no 3-gram.
      content.levels[set] = std::min(frequencies_[trigrams_[id] * n_sets_ + set], highest_levels_[set]);
    }
    return content;
  }

  const Alphabet* alphabet_ = nullptr;
  std::span<const AnswerSet> sets_;
  std::size_t n_sets_ = 0;
  Profile profile_{};
  PerSet<std::uint32_t> highest_levels_{};  // from it on, a 3-gram's support is 1
  std::vector<Window<kWords>> answer_windows_;
  WindowTable<kWords> windows_;
  RepeatedSuffixes<kWords> repeats_;
  std::vector<std::uint8_t> repeated_;  // at every position: how much the answer repeats
  SuffixTree<kWords> tree_;
  std::vector<CountedNode> by_first_occurrence_;  // all nodes but the root
  std::vector<bool> has_come_;
  std::vector<StateId> state_of_node_;
  std::vector<StateId> state_of_window_;
  std::vector<std::array<StateId, kShort>> short_suffixes_;  // per state: those of its last symbols, by their number
  std::vector<StateId> position_states_;                     // at every position: that of its window
  std::vector<StateId> known_states_;                        // at every position: what the answer has shown before
  std::vector<std::uint32_t> reached_by_;                    // per state: the latest long answer that has reached it
  std::uint32_t n_long_answers_ = 0;
  std::vector<NewState> states_;
  std::vector<std::uint32_t> frequencies_;  // per state and set
  std::vector<std::uint32_t> cumulative_;   // per state and set: of all suffixes together
  std::vector<StateId> trigrams_;           // per state: the one of the 3-gram at its end
  std::uint32_t most_counted_ = 0;
  std::vector<NewEdge> edges_;
};

}  // namespace

struct SectionBuilder::Builders {
  IndexBuilder<2> of_few_symbols;
  IndexBuilder<4> of_many_symbols;

  std::optional<Section> build(std::span<const AnswerSet> sets, Profile profile, bool is_wide) {
    const Alphabet alphabet(sets);
    if (alphabet.size() <= Window<2>::kSymbolMask) return of_few_symbols.build(alphabet, sets, profile, is_wide);
    return of_many_symbols.build(alphabet, sets, profile, is_wide);
  }

  // One index for each four sets; none if one of them does not fit the form.
  std::vector<Section> build_all(std::span<const AnswerSet> sets, Profile profile, bool is_wide) {
    std::vector<Section> indexes;
    for (; !sets.empty(); sets = sets.subspan(std::min(kSetsPerIndex, sets.size()))) {
      std::optional<Section> index = build(sets.first(std::min(kSetsPerIndex, sets.size())), profile, is_wide);
      if (!index) return {};
      indexes.push_back(*std::move(index));
    }
    return indexes;
  }
};

SectionBuilder::SectionBuilder() : builders_(std::make_unique<Builders>()) {}
SectionBuilder::SectionBuilder(SectionBuilder&&) noexcept = default;
SectionBuilder::~SectionBuilder() = default;

Section SectionBuilder::build(std::span<const AnswerSet> sets, Profile profile) {
  std::vector<Section> indexes = builders_->build_all(sets, profile, false);
  if (indexes.empty()) indexes = builders_->build_all(sets, profile, true);
  if (indexes.size() == 1) return indexes[0];
  std::uint64_t n_bytes = 0;
  for (const Section& index : indexes) n_bytes += index.bytes.size();
  Section section = allocate(n_bytes);
  auto* next = const_cast<std::byte*>(section.bytes.data());  // nobody else has seen them yet
  for (const Section& index : indexes) next = std::ranges::copy(index.bytes, next).out;
  return section;
}

}  // namespace pfgen
