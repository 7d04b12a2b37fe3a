#include "index/ngram_index.hpp"

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

// Links lead to smaller numbers, so that following them ends, and depths are within the length of a window. Whether a
// link has the stated depth is checked for the root only, because the root has no counts.
template <class States>
void check_states(const States& states, std::size_t n_states, const PlaceCheck& check) {
  const Place link_of_root = states[kRoot].link_place();
  require(link_of_root.state == kRoot && link_of_root.base == 0 && states[kRoot].depth() == 0 &&
              states[kRoot].link_depth() == 0,
          "a state with an impossible link or depth");
  constexpr std::size_t kAhead = kScanAheadBytes / sizeof(typename States::State);
  std::int64_t signs = 0;
  for (StateId id = 1; id < n_states; ++id) {
    const auto& state = states[id];
    prefetch(&state + kAhead);
    const Place link = state.link_place();
    signs |= check(link) | shortfall(id - 1, link.state) | shortfall(state.depth(), state.link_depth() + 1) |
             shortfall(kMaxOrder, state.depth()) |
             (shortfall(link.state, kRoot + 1) & shortfall(0, state.link_depth()));
  }
  require(signs >= 0, "a state with an impossible link or depth");
}

template <class Edge>
void check_edges(std::span<const Edge> edges, const PlaceCheck& check) {
  constexpr std::size_t kAhead = kScanAheadBytes / sizeof(Edge);
  std::int64_t signs = 0;
  for (const Edge& edge : edges) {
    prefetch(&edge + kAhead);
    signs |= check(edge.place());
  }
  require(signs >= 0, "an edge that leads nowhere");
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

NgramIndex::NgramIndex(std::span<const std::byte> bytes) {
  const SectionHeader header = read_header(bytes);
  const SectionShape shape(header);
  n_bytes_ = shape.end;
  n_states_ = header.n_states;
  is_wide_ = header.is_wide == 1;
  sets_ = part<SetHeader>(bytes, shape.sets, header.n_sets);
  check_sets(sets_);
  alphabet_ = Alphabet(check_code_points(part<char32_t>(bytes, shape.code_points, header.n_symbols)));
  const PlaceCheck check(header);
  const auto open = [&](auto& states, auto& symbol_counts) {
    using States = std::remove_reference_t<decltype(states)>;
    const auto edges = part<typename States::Edge>(bytes, shape.edges, header.n_slots);
    states = States(part<typename States::State>(bytes, shape.states, n_states_).data(), edges.data());
    check_states(states, n_states_, check);
    check_edges(edges, check);
    check_root(states, alphabet_.size());
    symbol_counts = counts_of_symbols(states, alphabet_.size());
  };
  is_wide_ ? open(wide_, wide_symbol_counts_) : open(compact_, compact_symbol_counts_);
}

}  // namespace pfgen
