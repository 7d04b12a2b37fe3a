// The n-grams of an answer of any length, found again in references. Their counts are exact: each n-gram is a node of a
// tree, found by its parent (the n-gram without its last symbol) and its last symbol.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pfgen {

// The nodes of the tree. Only the answer adds nodes, so a reference takes no memory.
class NgramNodes {
 public:
  static constexpr std::uint32_t kRoot = 0;  // the empty n-gram; as a result: no such n-gram

  // Forgets all n-grams and makes room for `most` n-grams.
  void clear(std::size_t most) {
    const std::size_t n_slots = std::bit_ceil(most + most / 2 + 2);
    if (slots_.size() < n_slots) slots_.resize(n_slots);
    shift_ = 64 - std::countr_zero(n_slots);
    mask_ = n_slots - 1;
    size_ = 0;
    if (++epoch_ == 0) {
      std::ranges::fill(slots_, Slot{});
      epoch_ = 1;
    }
  }

  std::uint32_t find(std::uint32_t parent, std::uint32_t symbol) const {
    const Slot& slot = slots_[place_of(key_of(parent, symbol))];
    return slot.epoch == epoch_ ? slot.node : kRoot;
  }

  // A new node has the next number.
  std::uint32_t insert(std::uint32_t parent, std::uint32_t symbol) {
    const std::uint64_t key = key_of(parent, symbol);
    Slot& slot = slots_[place_of(key)];
    if (slot.epoch != epoch_) slot = {key, ++size_, epoch_};
    return slot.node;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t node = 0;
    std::uint32_t epoch = 0;  // a slot of an earlier epoch is free
  };

  static std::uint64_t key_of(std::uint32_t parent, std::uint32_t symbol) {
    return std::uint64_t{parent} << 32 | symbol;
  }

  std::size_t place_of(std::uint64_t key) const {
    std::size_t place = (key ^ key >> 29) * 0x9E3779B97F4A7C15U >> shift_;
    while (slots_[place].epoch == epoch_ && slots_[place].key != key) place = (place + 1) & mask_;
    return place;
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  int shift_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t epoch_ = 0;
};

class NgramTree {
 public:
  explicit NgramTree(std::size_t order) : order_(order), ends_(order + 1), n_different_(order), n_repeated_(order) {}

  std::size_t order() const noexcept { return order_; }

  void set_answer(std::span<const std::uint32_t> symbols) {
    tree_.clear(symbols.size() * order_);
    nodes_.assign(1, {});
    std::ranges::fill(n_different_, 0);
    std::ranges::fill(n_repeated_, 0);
    n_references_ = 0;
    forget_references();
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      // ends_[n] is the n-gram of n symbols that ends here; its suffix is ends_[n - 1].
      const std::size_t longest = std::min(order_, i + 1);
      for (std::size_t n = longest; n > 0; --n) {
        ends_[n] = tree_.insert(ends_[n - 1], symbols[i]);
        if (ends_[n] == nodes_.size()) nodes_.emplace_back();
        const std::uint32_t count = ++nodes_[ends_[n]].n_in_answer;
        if (count <= 2) ++(count == 1 ? n_different_ : n_repeated_)[n - 1];
      }
      for (std::size_t n = longest; n > 0; --n) nodes_[ends_[n]].suffix = ends_[n - 1];
    }
  }

  // The next reference is the first one for `add_matches`.
  void forget_references() { first_reference_ = n_references_ + 1; }

  // The different n-grams of n symbols in the answer, and those among them that it contains more than once.
  std::size_t n_different(std::size_t n) const { return n_different_[n - 1]; }
  std::size_t n_repeated(std::size_t n) const { return n_repeated_[n - 1]; }

  // Counts the n-grams that the answer shares with a reference: `matches[n - 1]` of n symbols.
  void match(std::span<const std::uint32_t> reference, std::int64_t* matches) {
    std::fill_n(matches, order_, 0);
    walk(reference,
         [&](const Node& node, std::size_t n) { matches[n - 1] += node.n_in_reference <= node.n_in_answer ? 1 : 0; });
  }

  // Adds the n-grams that it shares with this reference, and with no earlier reference as often.
  void add_matches(std::span<const std::uint32_t> reference, std::int64_t* matches) {
    walk(reference, [&](Node& node, std::size_t n) {
      if (node.n_in_reference > node.n_in_answer || node.n_in_reference <= node.n_matched) return;
      node.n_matched = node.n_in_reference;
      ++matches[n - 1];
    });
  }

 private:
  struct Node {
    std::uint32_t suffix = NgramNodes::kRoot;  // the n-gram without its first symbol
    std::uint32_t n_in_answer = 0;
    std::uint32_t n_in_reference = 0;  // of the reference that was the last to contain it
    std::uint32_t reference = 0;
    std::uint32_t n_matched = 0;  // in any reference that is not forgotten
  };

  // Calls `visit(node, n)` for each n-gram of the reference that the answer contains, after counting it.
  template <class Visit>
  void walk(std::span<const std::uint32_t> reference, const Visit& visit) {
    ++n_references_;
    std::uint32_t longest = NgramNodes::kRoot;  // the longest n-gram of the answer that ends here
    std::size_t length = 0;
    for (const std::uint32_t symbol : reference) {
      if (length == order_) {
        longest = nodes_[longest].suffix;
        --length;
      }
      std::uint32_t next = tree_.find(longest, symbol);
      while (next == NgramNodes::kRoot && length > 0) {
        longest = nodes_[longest].suffix;
        --length;
        next = tree_.find(longest, symbol);
      }
      if (next == NgramNodes::kRoot) continue;
      longest = next;
      ++length;
      for (std::size_t n = length; n > 0; --n, next = nodes_[next].suffix) {
        Node& node = nodes_[next];
        if (node.reference != n_references_) {
          if (node.reference < first_reference_) node.n_matched = 0;
          node.reference = n_references_;
          node.n_in_reference = 0;
        }
        ++node.n_in_reference;
        visit(node, n);
      }
    }
  }

  std::size_t order_;
  NgramNodes tree_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> ends_;
  std::vector<std::size_t> n_different_;  // by order
  std::vector<std::size_t> n_repeated_;
  std::uint32_t n_references_ = 0;
  std::uint32_t first_reference_ = 1;
};

}  // namespace pfgen
