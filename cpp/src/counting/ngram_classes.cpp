#include "counting/ngram_classes.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "system/random.hpp"

namespace pfgen {
namespace {

// N-grams that the same answers hold: the places of one of them, which begin with the n-gram of this order.
struct NgramGroup {
  std::uint64_t hash = 0;  // of the answers
  std::size_t begin = 0, end = 0;
  std::uint32_t frequency = 0;
  std::uint32_t weight = 0;
  std::size_t order = 0;
};

// Finds the groups, some of which have the same answers, and counts the n-grams that only one answer contains.
class GroupFinder {
 public:
  GroupFinder(const SortedWindows& windows, std::size_t n_rows)
      : n_own(n_rows), windows_(windows), hash_of_(n_rows), open_(windows.max_order() + 1) {
    Generator generator(0);
    for (std::uint64_t& hash : hash_of_) hash = generator.draw();
  }

  void open(std::size_t order, std::size_t i) { open_[order] = {0, i, i, 0, 1, order}; }
  void count(std::size_t order, std::uint32_t row) {
    ++open_[order].frequency;
    open_[order].hash += hash_of_[row];
  }
  void close(std::size_t order, std::size_t end) {
    NgramGroup& group = open_[order];
    group.end = end;
    ++n_ngrams;
    if (group.frequency == 1) {
      ++n_own[windows_.row(group.begin)];
    } else if (!groups.empty() && groups.back().begin >= group.begin && groups.back().frequency == group.frequency) {
      ++groups.back().weight;  // the same number of answers contain both n-grams, so the same answers do
    } else {
      groups.push_back(group);
    }
  }

  std::vector<NgramGroup> groups;
  std::vector<std::uint64_t> n_own;
  std::uint64_t n_ngrams = 0;

 private:
  const SortedWindows& windows_;
  std::vector<std::uint64_t> hash_of_;
  std::vector<NgramGroup> open_;
};

// Calls `work(row)` for each answer of a group.
template <class Work>
void for_each_row(const SortedWindows& windows, const NgramGroup& group, const Work& work) {
  for (std::size_t i = group.begin; i < group.end; ++i) {
    if (windows.is_first_of_row(i, group.order)) work(windows.row(i));
  }
}

// Groups that hold the same answers become one. A hash says only where to look.
std::vector<NgramGroup> merge(const SortedWindows& windows, std::vector<NgramGroup> groups, std::size_t n_rows) {
  std::ranges::sort(groups, [](const NgramGroup& a, const NgramGroup& b) {
    return std::tie(b.frequency, a.hash, a.begin, a.order) < std::tie(a.frequency, b.hash, b.begin, b.order);
  });
  std::vector<std::uint32_t> mark_of(n_rows);
  std::uint32_t mark = 0;
  std::size_t n_kept = 0;
  std::size_t first = 0;  // of the kept ones with the same hash
  for (const NgramGroup& group : groups) {
    if (n_kept == 0 || groups[n_kept - 1].hash != group.hash || groups[n_kept - 1].frequency != group.frequency)
      first = n_kept;
    ++mark;
    if (first < n_kept) for_each_row(windows, group, [&](std::uint32_t row) { mark_of[row] = mark; });
    std::size_t same = first;
    for (; same < n_kept; ++same) {
      bool is_same = true;
      for_each_row(windows, groups[same], [&](std::uint32_t row) { is_same = is_same && mark_of[row] == mark; });
      if (is_same) break;
    }
    if (same < n_kept) {
      groups[same].weight += group.weight;
    } else {
      groups[n_kept++] = group;
    }
  }
  groups.resize(n_kept);
  return groups;
}

}  // namespace

NgramClasses::NgramClasses(const SortedWindows& windows, std::size_t n_rows)
    : n_distinct_(n_rows), frequencies_(n_rows) {
  GroupFinder finder(windows, n_rows);
  windows.visit(0, windows.size(), finder);
  n_ngrams_ = finder.n_ngrams;
  n_own_ = std::move(finder.n_own);
  n_distinct_ = frequencies_ = n_own_;
  const std::vector<NgramGroup> groups = merge(windows, std::move(finder.groups), n_rows);
  const auto is_dense = [&](const NgramGroup& group) { return group.frequency >= 2 * n_words(); };
  n_dense_ = static_cast<std::size_t>(std::ranges::find_if_not(groups, is_dense) - groups.begin());
  bits_.resize(n_dense_ * n_words());
  classes_begin_.resize(n_rows + 1);
  for (std::size_t c = 0; c < groups.size(); ++c) {
    weights_.push_back(groups[c].weight);
    for_each_row(windows, groups[c], [&](std::uint32_t row) {
      if (c < n_dense_) {
        bits_[c * n_words() + row / 64] |= std::uint64_t{1} << row % 64;
      } else {
        rows_.push_back(row);
      }
      ++classes_begin_[row + 1];
      n_distinct_[row] += groups[c].weight;
      frequencies_[row] += std::uint64_t{groups[c].weight} * groups[c].frequency;
    });
    if (c >= n_dense_) rows_begin_.push_back(rows_.size());
  }
  std::partial_sum(classes_begin_.begin(), classes_begin_.end(), classes_begin_.begin());
  classes_.resize(classes_begin_.back());
  std::vector<std::size_t> end(classes_begin_.begin(), classes_begin_.end() - 1);
  for (std::size_t c = 0; c < groups.size(); ++c) {
    for_each_row(windows, groups[c], [&](std::uint32_t row) { classes_[end[row]++] = static_cast<std::uint32_t>(c); });
  }
}

}  // namespace pfgen
