#include "index/ngram_index.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "pfgen/error.hpp"

namespace pfgen {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw IndexFormatError(what);
}

SectionHeader read_header(std::span<const std::byte> bytes) {
  require(bytes.size() >= sizeof(SectionHeader), "an index is cut");
  SectionHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  require(header.n_sets >= 1 && header.n_sets <= kSetsPerIndex && header.n_states >= 1 &&
              header.n_symbols <= kEndMark + 1 && header.n_slots > header.n_symbols && header.is_wide <= 1,
          "the header of an index holds a number out of its bounds");
  require(header.limit == 0 ? header.target == 0 : header.lengths().are_valid() && header.is_wide == 1,
          "the lengths of an index are out of their bounds");
  // A larger symbol would mean "no edge".
  require(header.is_wide == 1 || header.n_symbols <= CompactStates::kMaxSymbol,
          "a compact index with too many symbols");
  require(SectionShape(header).end <= bytes.size(), "an index is longer than its section");
  return header;
}

template <class T>
std::span<const T> part(std::span<const std::byte> bytes, std::uint64_t offset, std::size_t n) {
  return {reinterpret_cast<const T*>(bytes.data() + offset), n};
}

void check_sets(std::span<const SetHeader> sets) {
  std::uint64_t n_answers = 0;
  for (const SetHeader& set : sets) {
    require(set.n_answers >= 1 && set.n_answers <= kMaxAnswers, "a set with an impossible number of answers");
    n_answers += set.n_answers;
    require(std::isfinite(set.baseline) && set.baseline >= 0.0, "a set with an impossible baseline");
  }
  require(n_answers <= kMaxAnswers, "a question with an impossible number of answers");
}

std::span<const char32_t> check_code_points(std::span<const char32_t> code_points) {
  std::vector<bool> seen(kEndMark + 1);
  for (const char32_t code_point : code_points) {
    require(code_point <= kEndMark && !seen[code_point], "an impossible alphabet");
    seen[code_point] = true;
  }
  return code_points;
}

// Negative if `a` is less than `b`. Checks combine the signs of all differences instead of branching, because a
// question has hundreds of thousands of states, and all of them are checked before its first answer is scored.
std::int64_t shortfall(std::uint64_t a, std::uint64_t b) noexcept {
  return static_cast<std::int64_t>(a) - static_cast<std::int64_t>(b);
}

// Checks the place of a state and the place of its edges, which exist for every symbol.
class PlaceCheck {
 public:
  explicit PlaceCheck(const SectionHeader& header)
      : last_state_(header.n_states - 1), last_base_(std::uint64_t{header.n_slots} - header.n_symbols - 1) {}

  // Negative unless the place is valid.
  std::int64_t operator()(Place place) const noexcept {
    return shortfall(last_state_, place.state) | shortfall(last_base_, place.base);
  }

 private:
  std::uint64_t last_state_;
  std::uint64_t last_base_;
};

// The root is its own link, without depth.
template <class States>
void check_root_state(const States& states) {
  const auto& root = states[kRoot];
  require(
      root.link_place().state == kRoot && root.link_place().base == 0 && root.depth() == 0 && root.link_depth() == 0,
      "a state with an impossible link or depth");
}

// Negative unless all states, from number `first` on, are valid. Links lead to smaller numbers, so that following them
// ends, and depths are within the length of a window. Whether a link has the stated depth is checked for the root only,
// because the root has no counts.
template <class State>
std::int64_t check_states(std::span<const State> states, std::size_t first, const PlaceCheck& check) noexcept {
  std::int64_t signs = 0;
  for (std::size_t i = first == kRoot ? 1 : 0; i < states.size(); ++i) {
    const State& state = states[i];
    const Place link = state.link_place();
    signs |= check(link) | shortfall(first + i - 1, link.state) | shortfall(state.depth(), state.link_depth() + 1) |
             shortfall(kMaxOrder, state.depth()) |
             (shortfall(link.state, kRoot + 1) & shortfall(0, state.link_depth()));
  }
  return signs;
}

// Negative unless all edges are valid.
template <class Edge>
std::int64_t check_edges(std::span<const Edge> edges, const PlaceCheck& check) noexcept {
  std::int64_t signs = 0;
  for (const Edge& edge : edges) signs |= check(edge.place());
  return signs;
}

// Reads `bytes`, which are `n` items and padding, from memory only once: adds each piece to `sum` unless that is null,
// and calls `check` with the items of the piece and the number of the first item. Negative if any check was.
template <class Item, class Check>
std::int64_t read_items(std::span<const std::byte> bytes, std::size_t n, RunningChecksum* sum, const Check& check) {
  constexpr std::size_t kItems = 12'288 / sizeof(Item);
  static_assert(kItems * sizeof(Item) % RunningChecksum::kStripe == 0);
  std::int64_t signs = 0;
  for (std::size_t first = 0; !bytes.empty(); first += kItems) {
    const auto piece = bytes.first(std::min(kItems * sizeof(Item), bytes.size()));
    bytes = bytes.subspan(piece.size());
    if (sum != nullptr) sum->add(piece);
    const std::size_t n_items = std::min(piece.size() / sizeof(Item), n - first);
    signs |= check(std::span(reinterpret_cast<const Item*>(piece.data()), n_items), first);
  }
  return signs;
}

// The root has an edge for every symbol, so that each walk can continue. The edge leads to the root only if no
// reference contains the symbol.
template <class States>
void check_root(const States& states, std::size_t n_symbols) {
  for (Symbol symbol = kUnknown; symbol <= n_symbols; ++symbol) {
    const auto& edge = states.edge(symbol);
    require(edge.symbol() == symbol && (edge.place().state == kRoot) == (symbol == kUnknown),
            "a symbol without a state");
  }
  require(states.edge(kUnknown).place().base == 0, "an edge that leads nowhere");
}

template <class States>
std::vector<typename States::Counts> counts_of_symbols(const States& states, std::size_t n_symbols) {
  std::vector<typename States::Counts> counts(n_symbols + 1);
  for (Symbol symbol = 1; symbol <= n_symbols; ++symbol) {
    const auto& state = states[states.edge(symbol).place().state];
    counts[symbol] = state.depth() == 1 ? state.counts : counts_up_to(states, state, 1);
  }
  return counts;
}

}  // namespace

NgramIndex::NgramIndex(std::span<const std::byte> bytes, RunningChecksum* sum, bool is_right) {
  const SectionHeader header = read_header(bytes);
  const SectionShape shape(header);
  n_bytes_ = shape.end;
  n_states_ = header.n_states;
  lengths_ = header.lengths();
  is_wide_ = header.is_wide == 1;
  if (sum != nullptr) sum->add(bytes.first(shape.states));
  sets_ = part<SetHeader>(bytes, shape.sets, header.n_sets);
  check_sets(sets_);
  alphabet_ = Alphabet(check_code_points(part<char32_t>(bytes, shape.code_points, header.n_symbols)));
  const PlaceCheck check(header);
  const auto open = [&](auto& states, auto& symbol_counts) {
    using States = std::remove_reference_t<decltype(states)>;
    using State = typename States::State;
    using Edge = typename States::Edge;
    const auto check_some_states = [&](auto some, std::size_t first) { return check_states(some, first, check); };
    const auto check_some_edges = [&](auto some, std::size_t) { return check_edges(some, check); };
    const auto of_states = bytes.subspan(shape.states, shape.edges - shape.states);
    const auto of_edges = bytes.subspan(shape.edges, shape.end - shape.edges);
    states = States(reinterpret_cast<const State*>(of_states.data()), reinterpret_cast<const Edge*>(of_edges.data()));
    check_root_state(states);
    require(is_right || read_items<State>(of_states, n_states_, sum, check_some_states) >= 0,
            "a state with an impossible link or depth");
    require(is_right || read_items<Edge>(of_edges, header.n_slots, sum, check_some_edges) >= 0,
            "an edge that leads nowhere");
    check_root(states, alphabet_.size());
    symbol_counts = counts_of_symbols(states, alphabet_.size());
  };
  if (is_wide_) {
    open(wide_, wide_symbol_counts_);
  } else {
    open(compact_, compact_symbol_counts_);
  }
}

}  // namespace pfgen
