// Builds the automaton from sorted windows instead of growing it symbol by symbol.
//
// The window of a position is the n-gram of up to 10 symbols that ends there, read backwards. Sorted, the
// distinct windows of all answers form a trie whose branching points and ends are just the states: the
// suffixes of a window are its prefixes in the trie, and a link leads to the parent. What repeats in the
// references (most of it) is hashed away before anything is sorted.
#include "pfgen/ngram_index.hpp"

#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <string>

#include "pfgen/error.hpp"

namespace pfgen {
namespace {

constexpr std::uint32_t kSymbolMask = (1U << 21) - 1;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// The last 10 symbols before a position, the latest in the highest bits; zeros where the text had begun.
// Two words hold alphabets of up to 4095 symbols, four words all of Unicode.
template <std::size_t kWords>
struct Window {
  static constexpr int kSymbolBits = kWords == 2 ? 12 : 21;
  static constexpr int kSymbolsPerWord = kWords == 2 ? 5 : 3;
  static constexpr int kTopShift = kSymbolBits * (kSymbolsPerWord - 1);
  static constexpr std::uint64_t kSymbolMask = (std::uint64_t{1} << kSymbolBits) - 1;
  static constexpr int kInLastWord = kMaxOrder - kSymbolsPerWord * static_cast<int>(kWords - 1);

  std::array<std::uint64_t, kWords> words{};

  auto operator<=>(const Window&) const = default;

  void push(Symbol symbol) {
    for (std::size_t w = kWords - 1; w > 0; --w) {
      words[w] = words[w] >> kSymbolBits | (words[w - 1] & kSymbolMask) << kTopShift;
    }
    words[0] = words[0] >> kSymbolBits | static_cast<std::uint64_t>(symbol) << kTopShift;
    words[kWords - 1] &= ~std::uint64_t{0} << (kSymbolBits * (kSymbolsPerWord - kInLastWord));
  }

  Symbol operator[](int i) const {
    const auto place = static_cast<std::size_t>(i);
    const int shift = kTopShift - kSymbolBits * (i % kSymbolsPerWord);
    return static_cast<Symbol>(words[place / kSymbolsPerWord] >> shift & kSymbolMask);
  }

  std::uint64_t hash() const {
    std::uint64_t h = 0;
    for (const std::uint64_t word : words) {
      h = (h ^ word) * 0x9E3779B97F4A7C15U;
      h ^= h >> 32;
    }
    return h;
  }
};

// Number of leading symbols that two windows share; `a` and `b` differ.
template <std::size_t kWords>
std::uint32_t common_prefix(const Window<kWords>& a, const Window<kWords>& b) {
  std::size_t w = 0;
  while (a.words[w] == b.words[w]) ++w;
  constexpr int kUnused = 64 - Window<kWords>::kSymbolBits * Window<kWords>::kSymbolsPerWord;
  const int bit = std::countl_zero(a.words[w] ^ b.words[w]) - kUnused;
  return static_cast<std::uint32_t>(static_cast<int>(w) * Window<kWords>::kSymbolsPerWord +
                                    bit / Window<kWords>::kSymbolBits);
}

}  // namespace

template <std::size_t kWords>
class IndexBuilder {
 public:
  IndexBuilder(NgramIndex& index, std::span<const AnswerSet> sets) : index_(index), sets_(sets) {}

  void build() {
    collect_windows();
    make_nodes();
    number_states();
    count_documents();
    accumulate();
    connect();
  }

 private:
  // A distinct window, and the window before it where it was first seen.
  struct Seen {
    Window<kWords> window;
    std::uint32_t before;  // kNone at the beginning of an answer
    std::uint32_t n_occurrences;
  };
  struct Sorted {
    Window<kWords> window;
    std::uint32_t number;  // in seen_
    std::uint32_t shared;  // leading symbols shared with the window before it in order
  };
  struct Node {
    std::uint32_t parent;
    std::uint32_t depth;
    std::uint32_t n_occurrences;
  };
  struct NewEdge {
    StateId from;
    Symbol symbol;
    StateId to;
  };

  void collect_windows() {
    std::size_t n_positions = 0;
    for (const AnswerSet& set : sets_) {
      for (const auto& answer : set) n_positions += answer.size();
    }
    if (n_positions >= kNone / 4) {
      throw CompileError("a question holds " + std::to_string(n_positions) + " code points of references; at most " +
                         std::to_string(kNone / 4) + " can be indexed");
    }
    position_windows_.reserve(n_positions);
    slots_.assign(std::size_t{1} << 14, kNone);
    for (const AnswerSet& set : sets_) {
      for (const auto& answer : set) {
        Window<kWords> window;
        std::uint32_t before = kNone;
        for (const char32_t code_point : answer) {
          window.push(index_.alphabet_.symbol_of(code_point));
          before = number_of(window, before);
          position_windows_.push_back(before);
        }
      }
    }
  }

  std::uint32_t number_of(const Window<kWords>& window, std::uint32_t before) {
    if (2 * seen_.size() >= slots_.size()) grow();
    std::size_t slot = window.hash() & (slots_.size() - 1);
    while (slots_[slot] != kNone) {
      Seen& seen = seen_[slots_[slot]];
      if (seen.window == window) {
        ++seen.n_occurrences;
        return slots_[slot];
      }
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = static_cast<std::uint32_t>(seen_.size());
    seen_.push_back({window, before, 1});
    return slots_[slot];
  }

  void grow() {
    slots_.assign(slots_.size() * 2, kNone);
    for (std::uint32_t i = 0; i < seen_.size(); ++i) {
      std::size_t slot = seen_[i].window.hash() & (slots_.size() - 1);
      while (slots_[slot] != kNone) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i;
    }
  }

  // The trie over the sorted windows: a node where windows part and one where each ends.
  void make_nodes() {
    sorted_.reserve(seen_.size());
    for (std::uint32_t i = 0; i < seen_.size(); ++i) sorted_.push_back({seen_[i].window, i, 0});
    std::sort(sorted_.begin(), sorted_.end(), [](const Sorted& a, const Sorted& b) { return a.window < b.window; });
    nodes_.push_back({kRoot, 0, 0});
    node_of_window_.resize(seen_.size());
    std::vector<std::uint32_t> path{kRoot};  // from the root to the latest leaf
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      Sorted& sorted = sorted_[i];
      if (i > 0) sorted.shared = common_prefix(sorted_[i - 1].window, sorted.window);
      part_at(sorted.shared, path);
      const auto leaf = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({path.back(), depth_of(sorted.window), seen_[sorted.number].n_occurrences});
      node_of_window_[sorted.number] = leaf;
      path.push_back(leaf);
    }
  }

  // Shortens the path to the depth `shared`, with a new node there if the trie has none yet.
  void part_at(std::uint32_t shared, std::vector<std::uint32_t>& path) {
    std::uint32_t below = kNone;
    while (nodes_[path.back()].depth > shared) {
      below = path.back();
      path.pop_back();
    }
    if (nodes_[path.back()].depth == shared) return;
    const auto parting = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({path.back(), shared, 0});
    nodes_[below].parent = parting;
    path.push_back(parting);
  }

  static std::uint32_t depth_of(const Window<kWords>& window) {
    int depth = 0;
    while (depth < kMaxOrder && window[depth] != kUnknown) ++depth;
    return static_cast<std::uint32_t>(depth);
  }

  // States are the nodes, most frequent first. A parent occurs more often than each of its children,
  // so its number is smaller.
  void number_states() {
    std::array<std::vector<std::uint32_t>, kMaxOrder + 1> by_depth;
    for (std::uint32_t node = 1; node < nodes_.size(); ++node) by_depth[nodes_[node].depth].push_back(node);
    for (std::size_t depth = kMaxOrder; depth > 0; --depth) {
      for (const std::uint32_t node : by_depth[depth]) {
        nodes_[nodes_[node].parent].n_occurrences += nodes_[node].n_occurrences;
      }
    }
    nodes_[kRoot].n_occurrences = kNone;

    // Falling occurrences, then rising node numbers, as one number.
    std::vector<std::uint64_t> order(nodes_.size());
    for (std::uint32_t node = 0; node < order.size(); ++node) {
      order[node] = static_cast<std::uint64_t>(kNone - nodes_[node].n_occurrences) << 32 | node;
    }
    std::sort(order.begin(), order.end());
    std::vector<StateId> state_of_node(nodes_.size());
    for (StateId state = 0; state < order.size(); ++state) state_of_node[order[state] & kNone] = state;

    index_.states_.resize(nodes_.size());
    for (StateId id = 0; id < order.size(); ++id) {
      const Node& node = nodes_[order[id] & kNone];
      NgramIndex::State& state = index_.states_[id];
      state.link = state_of_node[node.parent];
      state.depth = node.depth & 15U;
      state.link_depth = nodes_[node.parent].depth & 15U;
    }
    for (std::uint32_t& node : node_of_window_) node = state_of_node[node];
  }

  StateId state_of_window(std::uint32_t window) const { return node_of_window_[window]; }

  void count_documents() {
    index_.sums_.assign(index_.n_states() * (1 + index_.n_sets_), 0);
    index_.frequencies_.assign(index_.n_states() * index_.n_sets_, 0);
    std::uint32_t document = 0;
    std::size_t position = 0;
    for (std::size_t set = 0; set < index_.n_sets_; ++set) {
      for (const auto& answer : sets_[set]) {
        ++document;
        for (std::size_t end = position + answer.size(); position < end; ++position) {
          count_document(state_of_window(position_windows_[position]), document, set);
        }
      }
    }
  }

  // Counts the document for the state and for all its suffixes. Where a state has been reached by this document before,
  // its suffixes have been too. The place of the trigram state, set by accumulate(), remembers the document until then.
  void count_document(StateId state, std::uint32_t document, std::size_t set) {
    while (state != kRoot) {
      std::uint32_t& latest_document = index_.sums_[state * (1 + index_.n_sets_)];
      if (latest_document == document) return;
      latest_document = document;
      ++index_.frequencies_[state * index_.n_sets_ + set];
      state = index_.states_[state].link;
    }
  }

  // Parents come before their children: sums over all suffixes in one pass.
  void accumulate() {
    const std::size_t stride = 1 + index_.n_sets_;
    for (StateId id = 1; id < index_.n_states(); ++id) {
      const NgramIndex::State& state = index_.states_[id];
      std::uint32_t* sums = &index_.sums_[id * stride];
      const std::uint32_t* linked = &index_.sums_[state.link * stride];
      const std::uint32_t* frequency = index_.document_frequency(id);
      sums[0] = state.depth < 3 ? kRoot : state.link_depth < 3 ? id : linked[0];
      const std::uint32_t added = static_cast<std::uint32_t>(state.depth) - state.link_depth;
      for (std::size_t set = 0; set < index_.n_sets_; ++set) sums[1 + set] = linked[1 + set] + added * frequency[set];
    }
  }

  // Continuations. A window tells what follows the one before it, and all suffixes of that. In order, it brings nothing
  // new for those suffixes that, with the continuation, it shares with its neighbour.
  void connect() {
    std::vector<NewEdge> edges;
    edges.reserve(nodes_.size() * 2);
    for (const Sorted& sorted : sorted_) {
      const Symbol symbol = sorted.window[0];
      const std::uint32_t before = seen_[sorted.number].before;
      StateId from = before == kNone ? kRoot : continued_as(state_of_window(before));
      StateId to = state_of_window(sorted.number);
      for (;;) {
        const std::uint32_t length = std::min<std::uint32_t>(index_.states_[from].depth, kMaxOrder - 1) + 1;
        if (length <= sorted.shared) break;
        to = index_.suffix_state(to, length);
        edges.push_back({from, symbol, to});
        if (from == kRoot) break;
        from = index_.states_[from].link;
      }
    }
    store(edges);
  }

  // The state whose continuations a state has: a window of full length goes on without its first symbol.
  StateId continued_as(StateId state) const {
    const NgramIndex::State& full = index_.states_[state];
    return full.depth == kMaxOrder && full.link_depth == kMaxOrder - 1 ? full.link : state;
  }

  void store(const std::vector<NewEdge>& edges) {
    index_.edges_.assign(1, {});
    std::vector<std::uint32_t> begin(index_.n_states() + 1);
    for (const NewEdge& edge : edges) ++begin[edge.from + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<NewEdge> grouped(edges.size());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (const NewEdge& edge : edges) grouped[next[edge.from]++] = edge;
    for (StateId id = 0; id < index_.n_states(); ++id) {
      store_continuations(index_.states_[id], std::span(grouped).subspan(begin[id], begin[id + 1] - begin[id]));
    }
    index_.edges_.shrink_to_fit();
    for (StateId id = 1; id < index_.n_states(); ++id) {
      const NgramIndex::State& like = index_.states_[continued_as(id)];
      NgramIndex::State& state = index_.states_[id];
      state.likely_symbol = like.likely_symbol;
      state.likely_target = like.likely_target;
      state.edges = like.edges;
      state.edges_log2 = like.edges_log2;
    }
  }

  // The most frequent one in the state itself, the others in its table. States are numbered by falling frequency.
  void store_continuations(NgramIndex::State& state, std::span<NewEdge> edges) {
    if (edges.empty()) return;
    std::sort(edges.begin(), edges.end(), [](const NewEdge& a, const NewEdge& b) { return a.to < b.to; });
    state.likely_symbol = edges.front().symbol & kSymbolMask;
    state.likely_target = edges.front().to;
    if (edges.size() > 1) store_table(state, edges.subspan(1));
  }

  void store_table(NgramIndex::State& state, std::span<const NewEdge> edges) {
    // At least a fifth of the slots stays empty, which ends every search.
    const std::size_t n_slots = std::bit_ceil(edges.size() + edges.size() / 4 + 1);
    if (index_.edges_.size() + n_slots > NgramIndex::kMaxEdgeSlots) {
      throw CompileError("the references of a question hold too many different n-grams to be indexed");
    }
    state.edges = static_cast<std::uint32_t>(index_.edges_.size()) & (NgramIndex::kMaxEdgeSlots - 1);
    state.edges_log2 = static_cast<std::uint32_t>(std::countr_zero(n_slots)) & 31U;
    index_.edges_.resize(index_.edges_.size() + n_slots);
    for (const NewEdge& edge : edges) {
      std::size_t slot = NgramIndex::slot_of(edge.symbol, state.edges_log2);
      while (index_.edges_[state.edges + slot].symbol != kUnknown) slot = (slot + 1) & (n_slots - 1);
      index_.edges_[state.edges + slot] = {edge.symbol, edge.to};
    }
  }

  NgramIndex& index_;
  std::span<const AnswerSet> sets_;
  std::vector<Seen> seen_;
  std::vector<std::uint32_t> slots_;             // hash table over seen_
  std::vector<std::uint32_t> position_windows_;  // number of the window at every position of all answers
  std::vector<Sorted> sorted_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> node_of_window_;  // after number_states: the state
};

NgramIndex::NgramIndex(std::span<const AnswerSet> sets)
    : alphabet_(sets), n_sets_(sets.size()) {
  if (alphabet_.size() <= Window<2>::kSymbolMask) {
    IndexBuilder<2>(*this, sets).build();
  } else {
    IndexBuilder<4>(*this, sets).build();
  }
}

std::size_t NgramIndex::n_bytes() const noexcept {
  return states_.size() * sizeof(State) + edges_.size() * sizeof(Edge) +
         (sums_.size() + frequencies_.size()) * sizeof(std::uint32_t);
}

}  // namespace pfgen
