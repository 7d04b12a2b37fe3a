// The trie over the distinct windows of one question: a node where windows part, and one where each ends.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "index/window.hpp"
#include "index/window_table.hpp"
#include "system/prefetch.hpp"

namespace pfgen {

template <std::size_t kWords>
class SuffixTree {
 public:
  using Entry = typename WindowTable<kWords>::Entry;
  static constexpr std::uint32_t kTop = 0;  // the node of no symbols

  struct Node {
    std::uint32_t parent;
    std::uint32_t depth;
    std::uint32_t n_occurrences;
  };

  // Replaces the tree, and keeps its memory. Symbols are at most `n_symbols`.
  void build(std::span<const Entry> windows, std::size_t n_symbols) {
    sort(windows, n_symbols);
    make_nodes(windows);
  }

  std::span<const Node> nodes() const noexcept { return nodes_; }
  // By the number of a window: the node where it ends.
  std::span<const std::uint32_t> leaves() const noexcept { return leaves_; }

 private:
  static constexpr int kDigitBits = 12;
  static constexpr int kMostLeading = 4;  // more digits would take longer than comparing the rest

  // Sorts the numbers of windows: by radix for the leading symbols that fit beside a number, and by comparison for
  // windows that share these symbols.
  void sort(std::span<const Entry> windows, std::size_t n_symbols) {
    const auto number_bits = static_cast<int>(std::bit_width(windows.size()));
    const auto symbol_bits = static_cast<int>(std::bit_width(n_symbols | 1));
    const int n_leading = std::min(kMostLeading, (64 - number_bits) / symbol_bits);
    sorted_.resize(windows.size());
    for (std::size_t i = 0; i < windows.size(); ++i) {
      sorted_[i] = leading_symbols(windows[i].window, n_leading, symbol_bits) << number_bits | i;
    }
    for (int bit = 0; bit < n_leading * symbol_bits; bit += kDigitBits) sort_by_digit(number_bits + bit);

    const std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;
    for (auto begin = sorted_.begin(); begin != sorted_.end();) {
      auto end = begin;
      for (const std::uint64_t leading = *begin >> number_bits; end != sorted_.end() && *end >> number_bits == leading;
           ++end) {
        *end &= number_mask;
      }
      std::sort(begin, end, [&](std::uint64_t a, std::uint64_t b) { return windows[a].window < windows[b].window; });
      begin = end;
    }
  }

  static std::uint64_t leading_symbols(const Window<kWords>& window, int n, int symbol_bits) {
    std::uint64_t symbols = 0;
    for (int i = 0; i < n; ++i) symbols = symbols << symbol_bits | window[i];
    return symbols;
  }

  void sort_by_digit(int shift) {
    constexpr std::uint64_t kDigits = std::uint64_t{1} << kDigitBits;
    std::array<std::uint32_t, kDigits + 1> next{};
    for (const std::uint64_t key : sorted_) ++next[(key >> shift) % kDigits + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    other_.resize(sorted_.size());
    for (const std::uint64_t key : sorted_) other_[next[(key >> shift) % kDigits]++] = key;
    sorted_.swap(other_);
  }

  void make_nodes(std::span<const Entry> windows) {
    nodes_.assign(1, {kTop, 0, 0});
    leaves_.resize(windows.size());
    path_.assign(1, kTop);
    const auto soon = [&](std::size_t i) {
      prefetch(&windows[sorted_[i]]);
      prefetch(&leaves_[sorted_[i]]);
    };
    const Window<kWords>* latest = nullptr;
    for_each_ahead(sorted_.size(), soon, [&](std::size_t i) {
      const Entry& entry = windows[sorted_[i]];
      if (latest != nullptr) part_at(common_length(*latest, entry.window));
      latest = &entry.window;
      const auto leaf = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({path_.back(), depth_of(entry.window), entry.n_occurrences});
      leaves_[sorted_[i]] = leaf;
      path_.push_back(leaf);
    });
    part_at(0);
  }

  // Shortens the path to the depth `shared`, with a new node there if the trie has no node. Nodes that leave the path
  // are complete: their parents get their occurrences.
  void part_at(std::uint32_t shared) {
    while (nodes_[path_.back()].depth > shared) {
      Node& below = nodes_[path_.back()];
      path_.pop_back();
      if (nodes_[path_.back()].depth < shared) {
        const Node parting{path_.back(), shared, below.n_occurrences};
        below.parent = static_cast<std::uint32_t>(nodes_.size());
        path_.push_back(below.parent);
        nodes_.push_back(parting);
      } else {
        nodes_[path_.back()].n_occurrences += below.n_occurrences;
      }
    }
  }

  std::vector<std::uint64_t> sorted_;  // numbers of windows, while they are sorted behind their leading symbols
  std::vector<std::uint64_t> other_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> leaves_;
  std::vector<std::uint32_t> path_;  // from the top to the latest leaf
};

}  // namespace pfgen
