// The automaton of one index, from sorted windows instead of symbol by symbol.
//
// The window of a position is the n-gram of up to 10 symbols that ends there, read backwards. Sorted, the distinct
// windows of all answers form a trie whose branching points and ends are the states: the suffixes of a window are its
// prefixes in the trie, and a link leads to the parent. A hash table removes repeated windows, which are most of them,
// before the sort.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "index/repeated_suffixes.hpp"
#include "index/suffix_tree.hpp"
#include "index/window.hpp"
#include "index/window_table.hpp"
#include "pfgen/error.hpp"

namespace pfgen {

struct Automaton {
  struct State {
    StateId link;
    std::uint32_t depth;
    std::uint32_t link_depth;
  };
  struct Edge {
    StateId from;
    Symbol symbol;
    StateId to;
  };

  std::vector<State> states;  // by falling frequency, so parents come before their children
  std::vector<Edge> edges;
  std::vector<StateId> position_states;  // at every position of the answers: the state of its window
  std::vector<std::uint8_t> repeated;    // at every position: how much the answer repeats; 0 in long answers
};

// Keeps its memory from question to question; for one thread.
template <std::size_t kWords>
class AutomatonBuilder {
 public:
  // Throws CompileError for more code points than can be numbered. The result holds until the next call.
  const Automaton& build(const Alphabet& alphabet, std::span<const AnswerSet> sets) {
    alphabet_ = &alphabet;
    built_.edges.clear();
    collect_windows(sets);
    tree_.build(windows_.entries(), alphabet.size());
    connect();
    number_states();
    return built_;
  }

 private:
  using Node = typename SuffixTree<kWords>::Node;
  struct CountedNode {
    std::uint32_t node;
    std::uint32_t n_occurrences;
  };

  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  // States that occur less often are sorted by counting.
  static constexpr std::uint32_t kFewOccurrences = 1024;

  void collect_windows(std::span<const AnswerSet> sets) {
    std::size_t n_positions = 0;
    for (const AnswerSet& set : sets) {
      for (const auto& answer : set) n_positions += answer.size();
    }
    if (n_positions >= kNone / 4) {
      throw CompileError("a question holds " + std::to_string(n_positions) + " code points of references; at most " +
                         std::to_string(kNone / 4) + " can be indexed");
    }
    windows_.clear(n_positions);
    repeats_.prepare(alphabet_->size());
    built_.repeated.resize(n_positions);
    std::uint8_t* repeated = built_.repeated.data();
    for (const AnswerSet& set : sets) {
      for (const auto& answer : set) {
        const std::span<const Window<kWords>> windows = windows_of(answer);
        windows_.add(windows);
        if (is_long(answer.size())) {
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

  // Continuations, from node to node. A window gives the continuation of the previous window and of all its suffixes.
  // In the order of the references, only suffixes that occur for the first time get a new continuation.
  void connect() {
    const std::span<const Node> nodes = tree_.nodes();
    const std::span<const std::uint32_t> leaves = tree_.leaves();
    const std::span<const typename WindowTable<kWords>::Entry> entries = windows_.entries();
    built_.edges.reserve(nodes.size() * 2);
    by_first_occurrence_.clear();
    is_visited_.assign(nodes.size(), false);
    is_visited_[kRoot] = true;
    for_each_ahead(
        leaves.size(), [&](std::size_t i) { prefetch(&nodes[leaves[i]]); },
        [&](std::size_t i) {
          std::uint32_t to = leaves[i];
          if (is_visited_[to]) return;
          const std::uint32_t before = entries[i].before;
          std::uint32_t from = before == kNone ? kRoot : continued_as(leaves[before]);
          const Symbol symbol = entries[i].window[0];
          while (!is_visited_[to]) {
            is_visited_[to] = true;
            by_first_occurrence_.push_back({to, nodes[to].n_occurrences});
            const std::uint32_t parent = nodes[to].parent;
            const std::uint32_t parent_depth = nodes[parent].depth;
            for (;;) {
              built_.edges.push_back({from, symbol, to});
              if (from == kRoot) break;
              from = nodes[from].parent;
              if (nodes[from].depth < parent_depth) break;
            }
            to = parent;
          }
        });
  }

  // The node that has the continuations of a node: a window of full length continues without its first symbol.
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

    built_.states.resize(nodes.size());
    for_each_ahead(
        order.size(), [&](std::size_t i) { prefetch(&nodes[order[i]]); },
        [&](std::size_t i) {
          const Node& node = nodes[order[i]];
          built_.states[i] = {state_of_node_[node.parent], node.depth, nodes[node.parent].depth};
        });
    for (Automaton::Edge& edge : built_.edges) edge = {state_of_node_[edge.from], edge.symbol, state_of_node_[edge.to]};
    state_of_window_.clear();
    for (const std::uint32_t leaf : tree_.leaves()) state_of_window_.push_back(state_of_node_[leaf]);
    built_.position_states.clear();
    for (const std::uint32_t window : windows_.numbers()) built_.position_states.push_back(state_of_window_[window]);
  }

  // All nodes, by falling frequency. Equally frequent nodes are in the order of the references, so that nodes that are
  // read one after the other are adjacent. Nearly all nodes occur only a few times.
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

  const Alphabet* alphabet_ = nullptr;
  Automaton built_;
  std::vector<Window<kWords>> answer_windows_;
  WindowTable<kWords> windows_;
  RepeatedSuffixes<kWords> repeats_;
  SuffixTree<kWords> tree_;
  std::vector<CountedNode> by_first_occurrence_;  // all nodes but the root
  std::vector<bool> is_visited_;
  std::vector<StateId> state_of_node_;
  std::vector<StateId> state_of_window_;
};

}  // namespace pfgen
