#include "index/section_builder.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "formulas/support.hpp"
#include "index/automaton.hpp"
#include "index/row_placement.hpp"
#include "index/section_shape.hpp"
#include "index/state_counts.hpp"
#include "pfgen/error.hpp"
#include "system/large_pages.hpp"

namespace pfgen {
namespace {

// Zeroed memory for a section. calloc does not clear memory that the system has just provided, because it is zero.
Section allocate(std::size_t n_bytes) {
  std::size_t space = n_bytes + Section::kAlignment;
  void* memory = std::calloc(space, 1);
  if (memory == nullptr) throw std::bad_alloc();
  prefer_large_pages(memory, space);
  const std::shared_ptr<void> owner(memory, [](void* p) { std::free(p); });
  const auto* bytes = static_cast<const std::byte*>(std::align(Section::kAlignment, n_bytes, memory, space));
  return {{bytes, n_bytes}, owner};
}

// Writes the section of one index.
class SectionWriter {
 public:
  SectionWriter(const Alphabet& alphabet, std::span<const AnswerSet> sets, Profile profile, const Lengths& lengths)
      : alphabet_(alphabet), sets_(sets), profile_(profile), lengths_(lengths) {
    for (std::size_t set = 0; set < sets.size(); ++set) {
      highest_levels_[set] =
          static_cast<std::uint32_t>(support_by_frequency(static_cast<double>(sets[set].size())).size() - 1);
    }
  }

  // Whether the compact form may do, as far as is known before anything is built.
  bool may_be_compact() const {
    return alphabet_.size() <= CompactStates::kMaxSymbol &&
           std::ranges::all_of(highest_levels_, [](std::uint32_t level) { return level <= CompactStates::kMaxLevel; });
  }

  // The bytes of the index; nullopt if it does not fit the requested form of states.
  std::optional<Section> write(const Automaton& automaton, const StateCounts& counts, bool is_wide) {
    automaton_ = &automaton;
    counts_ = &counts;
    const Edges edges = edges_by_state();
    const Placement placement = place_rows(edges.rows());
    if (is_wide) return write_as<WideStates>(edges, placement);
    if (n_states() > CompactStates::kMaxStates || placement.n_slots > CompactStates::kMaxSlots ||
        counts.most_counted() > CompactStates::kMaxCount) {
      return std::nullopt;
    }
    return write_as<CompactStates>(edges, placement);
  }

 private:
  std::size_t n_states() const noexcept { return automaton_->states.size(); }

  // The edges of each state side by side.
  struct Edges {
    std::vector<std::uint32_t> begin;  // of each state's edges, and the end of the last
    std::vector<Symbol> symbols;
    std::vector<StateId> targets;

    Rows rows() const { return {begin, symbols}; }
  };

  // The edges of the references, and an edge from the root to itself for all unknown symbols.
  Edges edges_by_state() const {
    Edges edges{std::vector<std::uint32_t>(n_states() + 1), std::vector<Symbol>(automaton_->edges.size() + 1),
                std::vector<StateId>(automaton_->edges.size() + 1)};
    edges.begin[kRoot + 1] = 1;
    for (const Automaton::Edge& edge : automaton_->edges) ++edges.begin[edge.from + 1];
    std::partial_sum(edges.begin.begin(), edges.begin.end(), edges.begin.begin());
    edges.symbols[0] = kUnknown;
    edges.targets[0] = kRoot;
    std::vector<std::uint32_t> next(edges.begin.begin(), edges.begin.end() - 1);
    ++next[kRoot];
    const auto soon = [&](std::size_t i) { prefetch(&edges.symbols[next[automaton_->edges[i].from]]); };
    for_each_ahead(automaton_->edges.size(), soon, [&](std::size_t i) {
      const std::uint32_t at = next[automaton_->edges[i].from]++;
      edges.symbols[at] = automaton_->edges[i].symbol;
      edges.targets[at] = automaton_->edges[i].to;
    });
    return edges;
  }

  template <class States>
  Section write_as(const Edges& edges, const Placement& placement) const {
    const SectionHeader header{static_cast<std::uint32_t>(sets_.size()),
                               static_cast<std::uint32_t>(alphabet_.size()),
                               static_cast<std::uint32_t>(n_states()),
                               std::is_same_v<States, WideStates> ? 1U : 0U,
                               placement.n_slots,
                               static_cast<std::uint16_t>(lengths_ == Lengths() ? 0 : lengths_.target),
                               static_cast<std::uint16_t>(lengths_ == Lengths() ? 0 : lengths_.limit)};
    const SectionShape shape(header);
    Section section = allocate(shape.end);
    auto* bytes = const_cast<std::byte*>(section.bytes.data());  // not shared yet
    std::memcpy(bytes, &header, sizeof header);
    write_sets(bytes + shape.sets);
    std::ranges::copy(std::as_bytes(alphabet_.code_points()),
                      bytes + shape.code_points);  // there are none if all answers are empty
    const std::vector<Place> places = places_of_states(placement);
    auto* states = reinterpret_cast<typename States::State*>(bytes + shape.states);
    for (StateId id = 0; id < n_states(); ++id) states[id] = States::state(content(id, places));
    auto* slots = reinterpret_cast<typename States::Edge*>(bytes + shape.edges);
    std::fill_n(slots, placement.n_slots, States::kNoEdge);
    for (StateId from = 0; from < n_states(); ++from) {
      for (std::uint32_t i = edges.begin[from]; i < edges.begin[from + 1]; ++i) {
        const Symbol symbol = edges.symbols[i];
        slots[placement.bases[from] + symbol] = States::edge(symbol, places[edges.targets[i]]);
      }
    }
    return section;
  }

  // Each state with the base of its continuations. The continuations of a window of full length omit its first symbol.
  std::vector<Place> places_of_states(const Placement& placement) const {
    std::vector<Place> places;
    places.reserve(n_states());
    for (StateId id = 0; id < n_states(); ++id) {
      const Automaton::State& state = automaton_->states[id];
      const bool is_full = state.depth == kMaxOrder && state.link_depth == kMaxOrder - 1;
      places.push_back({id, placement.bases[is_full ? state.link : id]});
    }
    return places;
  }

  void write_sets(std::byte* out) const {
    std::vector<SetHeader> headers(sets_.size());
    const std::vector<double> means = counts_->baselines(profile_, lengths_);
    for (std::size_t set = 0; set < sets_.size(); ++set) headers[set] = {sets_[set].size(), means[set]};
    std::memcpy(out, headers.data(), headers.size() * sizeof(SetHeader));
  }

  StateContent content(StateId id, std::span<const Place> places) const {
    StateContent content{
        places[automaton_->states[id].link], automaton_->states[id].depth, automaton_->states[id].link_depth, {}, {}};
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      content.cumulative[set] = counts_->cumulative(id, set);
      content.levels[set] = std::min(counts_->of_trigram(id, set), highest_levels_[set]);
    }
    return content;
  }

  const Alphabet& alphabet_;
  std::span<const AnswerSet> sets_;
  Profile profile_;
  const Lengths& lengths_;
  PerSet<std::uint32_t> highest_levels_{};  // from it on, a 3-gram's support is 1
  const Automaton* automaton_ = nullptr;
  const StateCounts* counts_ = nullptr;
};

}  // namespace

struct SectionBuilder::Builders {
  AutomatonBuilder<2> of_few_symbols;
  AutomatonBuilder<4> of_many_symbols;
  StateCounts counts;

  std::optional<Section> build(std::span<const AnswerSet> sets, Profile profile, const Lengths& lengths, bool is_wide) {
    const Alphabet alphabet(sets);
    SectionWriter writer(alphabet, sets, profile, lengths);
    if (!is_wide && !writer.may_be_compact()) return std::nullopt;
    const Automaton& automaton = alphabet.size() <= Window<2>::kSymbolMask ? of_few_symbols.build(alphabet, sets)
                                                                           : of_many_symbols.build(alphabet, sets);
    counts.count(automaton, sets);
    return writer.write(automaton, counts, is_wide);
  }

  // One index for each four sets; empty if one of them does not fit the form.
  std::vector<Section> build_all(std::span<const AnswerSet> sets, Profile profile, const Lengths& lengths,
                                 bool is_wide) {
    std::vector<Section> indexes;
    for (; !sets.empty(); sets = sets.subspan(std::min(kSetsPerIndex, sets.size()))) {
      std::optional<Section> index = build(sets.first(std::min(kSetsPerIndex, sets.size())), profile, lengths, is_wide);
      if (!index) return {};
      indexes.push_back(*std::move(index));
    }
    return indexes;
  }
};

SectionBuilder::SectionBuilder() : builders_(std::make_unique<Builders>()) {}
SectionBuilder::SectionBuilder(SectionBuilder&&) noexcept = default;
SectionBuilder::~SectionBuilder() = default;

Section SectionBuilder::build(std::span<const AnswerSet> sets, Profile profile, const Lengths& lengths) {
  if (!lengths.are_valid()) throw CompileError("expected 1 <= target < limit <= " + std::to_string(kMaxLimit));
  std::vector<Section> indexes;
  if (lengths == Lengths()) indexes = builders_->build_all(sets, profile, lengths, false);
  if (indexes.empty()) indexes = builders_->build_all(sets, profile, lengths, true);
  if (indexes.size() == 1) return indexes[0];
  std::uint64_t n_bytes = 0;
  for (const Section& index : indexes) n_bytes += index.bytes.size();
  Section section = allocate(n_bytes);
  auto* next = const_cast<std::byte*>(section.bytes.data());  // not shared yet
  for (const Section& index : indexes) next = std::ranges::copy(index.bytes, next).out;
  return section;
}

}  // namespace pfgen
