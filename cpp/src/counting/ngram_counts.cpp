#include "pfgen/ngram_counts.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "counting/numbering.hpp"
#include "counting/sorted_windows.hpp"
#include "counting/symbols.hpp"
#include "system/parallel.hpp"

namespace pfgen {
namespace {

// Keys are counted in parts, by the first bits of their hashes. So the tables of a part take at most some hundred
// megabytes, even if all n-grams differ.
constexpr std::size_t kCodePointsPerPart = std::size_t{1} << 23;
constexpr std::size_t kCodePointsPerPause = std::size_t{1} << 20;
constexpr std::size_t kWindowsPerPart = std::size_t{1} << 16;
constexpr std::uint32_t kManyTimes = std::numeric_limits<std::uint32_t>::max();

// Calls `pause` after each fixed number of reported code points.
class Pauses {
 public:
  explicit Pauses(const std::function<void()>& pause) : pause_(pause) {}
  void after(std::size_t n_code_points) {
    n_ += n_code_points;
    if (n_ < kCodePointsPerPause) return;
    n_ = 0;
    if (pause_ && std::this_thread::get_id() == caller_) pause_();
  }

 private:
  const std::function<void()>& pause_;
  std::thread::id caller_ = std::this_thread::get_id();
  std::size_t n_ = 0;
};

struct RarePlace {
  std::size_t row;
  std::int32_t offset;
};

// Lists the n-grams of a part of the windows.
class Lister {
 public:
  explicit Lister(const SortedWindows& windows) : windows_(windows), open_(windows.max_order() + 1) {}

  void open(std::size_t order, std::size_t i) {
    open_[order] = list.rows.size();
    list.rows.push_back(windows_.row(i));
    list.offsets.push_back(windows_.offset(i));
    list.orders.push_back(static_cast<std::uint8_t>(order));
    list.frequencies.push_back(0);
  }
  void count(std::size_t order, std::uint32_t) { ++list.frequencies[open_[order]]; }
  void close(std::size_t, std::size_t) {}

  DocumentFrequencies list;

 private:
  const SortedWindows& windows_;
  std::vector<std::size_t> open_;
};

template <class Value>
void append(std::vector<Value>& to, std::vector<Value>& from) {
  to.insert(to.end(), from.begin(), from.end());
  from = {};
}

}  // namespace

RareNgrams find_rare_ngrams(std::span<const TextView> answers, std::size_t order, std::uint64_t below,
                            std::size_t n_threads, const std::function<void()>& on_pause) {
  const SymbolTexts texts = read_symbols(answers);
  const WindowKeys keys(texts, order);
  const std::size_t n_parts = std::max(n_threads, texts.symbols.size() / kCodePointsPerPart + 1);
  const Pauses by_caller(on_pause);
  RareNgrams rare{std::vector<std::int32_t>(texts.size(), -1)};
  std::mutex mutex;
  run_parallel(n_parts, n_threads, {}, [&] {
    return [&](std::size_t part) {
      Pauses pauses = by_caller;
      const auto for_each_of_part = [&](std::size_t row, const auto& work) {
        keys.for_each(row, [&](std::size_t offset, std::uint64_t key) {
          if ((mixed(key) >> 32) * n_parts >> 32 == part) work(offset, key);
        });
        pauses.after(texts[row].size());
      };
      KeyTable<0> counts;
      for (std::size_t row = 0; row < texts.size(); ++row) {
        for_each_of_part(row, [&](std::size_t, std::uint64_t key) {
          std::uint32_t& count = counts[key];
          count += count < kManyTimes;
        });
      }
      const auto is_rare = [&](std::uint32_t count) { return count != 0 && count < below; };
      const auto n_rare =
          static_cast<std::size_t>(std::ranges::count_if(counts.entries(), is_rare, &KeyTable<0>::Entry::value));
      std::vector<RarePlace> first;
      for (std::size_t row = 0; n_rare > 0 && row < texts.size(); ++row) {
        for_each_of_part(row, [&](std::size_t offset, std::uint64_t key) {
          if (counts[key] >= below || (!first.empty() && first.back().row == row)) return;
          first.push_back({row, static_cast<std::int32_t>(offset)});
        });
      }
      const std::scoped_lock lock(mutex);
      rare.n_rare += n_rare;
      rare.n_distinct += counts.size();
      for (const RarePlace& place : first) {
        std::int32_t& offset = rare.first[place.row];
        if (offset < 0 || place.offset < offset) offset = place.offset;
      }
    };
  });
  return rare;
}

DocumentFrequencies document_frequencies(std::span<const TextView> answers, std::size_t max_order,
                                         std::size_t n_threads, const std::function<void()>& on_pause) {
  const SymbolTexts texts = read_symbols(answers);
  const SortedWindows windows(texts, max_order);
  const std::vector<std::size_t> cuts = windows.cut(windows.size() / kWindowsPerPart + 1);
  std::vector<DocumentFrequencies> parts(cuts.size() - 1);
  run_parallel(parts.size(), n_threads, on_pause, [&] {
    return [&](std::size_t part) {
      Lister lister(windows);
      windows.visit(cuts[part], cuts[part + 1], lister);
      parts[part] = std::move(lister.list);
    };
  });
  DocumentFrequencies all;
  for (DocumentFrequencies& part : parts) {
    append(all.rows, part.rows);
    append(all.offsets, part.offsets);
    append(all.orders, part.orders);
    append(all.frequencies, part.frequencies);
  }
  return all;
}

}  // namespace pfgen
