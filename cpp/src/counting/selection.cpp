#include "pfgen/selection.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "counting/ngram_classes.hpp"
#include "counting/sliced_counts.hpp"
#include "counting/sorted_windows.hpp"
#include "pfgen/error.hpp"
#include "system/parallel.hpp"
#include "system/random.hpp"

namespace pfgen {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMostCost = std::int64_t{1} << 61;
constexpr auto kPause = std::chrono::milliseconds(100);

void check_size(std::size_t size, std::size_t n_rows) {
  if (size < 1 || size > n_rows) {
    throw CompileError("cannot select " + std::to_string(size) + " of " + std::to_string(n_rows) + " answers");
  }
}

// All sums and costs stay far below the largest that their types hold.
void check_sums(const SymbolTexts& texts, std::size_t size, std::size_t max_order) {
  std::size_t longest = 0;
  for (std::size_t row = 0; row < texts.size(); ++row) longest = std::max(longest, texts[row].size());
  const auto at_least_1 = [](std::size_t n) { return std::max<std::size_t>(n, 1); };
  const std::size_t n_in_one = at_least_1(longest * max_order);
  const std::size_t n_in_all = at_least_1(texts.symbols.size() * max_order);
  const std::size_t left = static_cast<std::size_t>(kMostCost / 8) / at_least_1(texts.size());
  if (n_in_one > std::numeric_limits<std::uint32_t>::max() || left / n_in_one < size || left / n_in_all == 0) {
    throw CompileError("too many and too long to count their n-grams exactly");
  }
}

class Comparer {
 public:
  Comparer(const SortedWindows& windows, std::vector<bool> is_chosen)
      : is_chosen_(std::move(is_chosen)), open_(windows.max_order() + 1) {
    comparison.orders.resize(windows.max_order());
  }

  void open(std::size_t order, std::size_t) { open_[order] = {}; }
  void count(std::size_t order, std::uint32_t row) {
    ++open_[order].all;
    open_[order].chosen += is_chosen_[row];
  }
  void close(std::size_t order, std::size_t) {
    const auto [all, chosen] = open_[order];
    ++comparison.sums.n_ngrams;
    comparison.sums.all_squares += all * all;
    comparison.sums.chosen_squares += chosen * chosen;
    comparison.sums.products += all * chosen;
    OrderCoverage& coverage = comparison.orders[order - 1];
    ++coverage.n_ngrams;
    coverage.frequencies += all;
    if (chosen == 0) return;
    ++coverage.n_held;
    coverage.held_frequencies += all;
  }

  Comparison comparison;

 private:
  struct Frequencies {
    std::uint64_t all = 0;
    std::uint64_t chosen = 0;
  };

  std::vector<bool> is_chosen_;
  std::vector<Frequencies> open_;
};

// The cost of an answer is the growth of the sum of squares if the answer is added to the chosen answers. The costs of
// all answers are kept: adding or removing an answer changes only the costs of answers that share n-grams with it. So
// the best swap for a removed answer is the answer with the lowest cost.
class Climber {
 public:
  Climber(const NgramClasses& classes, std::size_t size, std::uint64_t stream)
      : classes_(classes),
        size_(size),
        generator_(stream),
        n_rows_(static_cast<std::int64_t>(classes.n_rows())),
        counts_(classes.n_words()),
        costs_(64 * classes.n_words()),
        order_(classes.n_rows()),
        blocked_(classes.n_rows()) {
    sums_.n_ngrams = classes.n_ngrams();
    for (std::size_t row = 0; row < classes.n_rows(); ++row) {
      base_.push_back(n_rows_ * static_cast<std::int64_t>(classes.n_distinct(row)) -
                      2 * static_cast<std::int64_t>(size) * static_cast<std::int64_t>(classes.frequencies(row)));
      sums_.all_squares += classes.frequencies(row);
    }
    std::ranges::copy(base_, costs_.begin());
    std::iota(order_.begin(), order_.end(), 0U);
    shuffle();
    order_.resize(size);
  }

  // Adds the next of the random subset; false where all are there.
  bool add_next() {
    if (at_ < size_) {
      add(order_[at_++]);
      return true;
    }
    at_ = 0;
    note();
    return false;
  }

  // Tries all swaps for the next of the chosen ones.
  void step() {
    if (at_ == 0) shuffle();
    const std::uint32_t out = order_[at_];
    before_ = costs_;
    const DistributionSums sums = sums_;
    remove(out);
    const std::uint32_t in = cheapest();
    climb_.n_proposals += n_in_a_step();
    if (costs_[in] < costs_[out]) {
      order_[at_] = in;
      add(in);
      ++climb_.n_accepted;
      if (climb_.n_accepted >= next_note_) note();
    } else {
      costs_.swap(before_);
      sums_ = sums;
      blocked_[out] = kMostCost;
    }
    if (++at_ < size_) return;
    climb_.is_finished = climb_.n_accepted == n_accepted_before_;
    n_accepted_before_ = climb_.n_accepted;
    at_ = 0;
  }

  bool is_finished() const noexcept { return climb_.is_finished || n_in_a_step() == 0; }
  std::uint64_t n_in_a_step() const noexcept { return blocked_.size() - size_; }
  const DistributionSums& sums() const noexcept { return sums_; }

  Climb finish() {
    climb_.is_finished = is_finished();
    if (climb_.curve.back().n_proposals < climb_.n_proposals) note();
    climb_.rows = order_;
    std::ranges::sort(climb_.rows);
    return std::move(climb_);
  }

 private:
  // Moves `size_` random elements of order_, in random order, to its beginning.
  void shuffle() {
    for (std::size_t i = 0; i < size_; ++i) {
      std::swap(order_[i], order_[i + multiply_high(generator_.draw(), order_.size() - i)]);
    }
  }

  void add(std::uint32_t row) {
    change_sums(row, 1);
    change_costs(row, 2 * n_rows_);
    blocked_[row] = kMostCost;
  }

  void remove(std::uint32_t row) {
    change_costs(row, -2 * n_rows_);
    change_sums(row, -1);
    blocked_[row] = 0;
  }

  // Adds `much` for each n-gram that an answer shares with `row`.
  void change_costs(std::uint32_t row, std::int64_t much) {
    costs_[row] += much * static_cast<std::int64_t>(classes_.n_own(row));
    for (const std::uint32_t c : classes_.classes(row)) {
      if (c < classes_.n_dense()) {
        counts_.add(classes_.bits(c), classes_.weight(c));
        continue;
      }
      const std::int64_t more = much * classes_.weight(c);
      for (const std::uint32_t other : classes_.rows(c)) costs_[other] += more;
    }
    counts_.take([&](std::size_t first, const std::array<std::uint32_t, 8>& counts) {
      for (std::size_t i = 0; i < counts.size(); ++i) costs_[first + i] += much * counts[i];
    });
  }

  // `row` is not among the chosen ones, whose n-grams it shares as often as its cost says.
  void change_sums(std::uint32_t row, std::int64_t sign) {
    const std::int64_t n_shared_twice = (costs_[row] - base_[row]) / n_rows_;
    const auto n_distinct = static_cast<std::int64_t>(classes_.n_distinct(row));
    sums_.chosen_squares += static_cast<std::uint64_t>(sign * (n_shared_twice + n_distinct));
    sums_.products += static_cast<std::uint64_t>(sign * static_cast<std::int64_t>(classes_.frequencies(row)));
  }

  // Among the answers that are not chosen, the first with the lowest cost.
  std::uint32_t cheapest() const {
    std::int64_t least = kMostCost;
    for (std::size_t row = 0; row < blocked_.size(); ++row) least = std::min(least, costs_[row] + blocked_[row]);
    std::uint32_t row = 0;
    while (costs_[row] + blocked_[row] != least) ++row;
    return row;
  }

  // Points of the curve come at distances that grow with it, so that it stays short.
  void note() {
    climb_.curve.push_back({climb_.n_proposals, sums_});
    next_note_ = climb_.n_accepted + climb_.n_accepted / 32 + 1;
  }

  const NgramClasses& classes_;
  std::size_t size_;
  Generator generator_;
  std::int64_t n_rows_;
  SlicedCounts counts_;
  std::vector<std::int64_t> base_;  // costs while nothing is chosen
  std::vector<std::int64_t> costs_;
  std::vector<std::int64_t> before_;
  std::vector<std::uint32_t> order_;   // the chosen ones, as they come to be tried
  std::vector<std::int64_t> blocked_;  // keeps chosen answers from being chosen again
  std::size_t at_ = 0;
  std::uint64_t n_accepted_before_ = 0;
  std::uint64_t next_note_ = 0;
  DistributionSums sums_;
  Climb climb_;
};

// The limits on proposals and time that all climbs share.
class Budget {
 public:
  Budget(const SelectionOptions& options, const std::function<void(const CurvePoint&)>& on_progress)
      : options_(options), on_progress_(on_progress) {}

  bool is_spent() const {
    return stop_ || (options_.n_proposals && n_proposals_ >= *options_.n_proposals) ||
           (options_.seconds && std::chrono::duration<double>(Clock::now() - begin_).count() >= *options_.seconds);
  }

  void spend(std::uint64_t n_proposals, const Climber& climber) {
    n_proposals_ += n_proposals;
    if (!on_progress_ || std::this_thread::get_id() != caller_ || Clock::now() - last_pause_ < kPause) return;
    try {
      on_progress_({n_proposals_, climber.sums()});
    } catch (...) {
      stop_ = true;
      throw;
    }
    last_pause_ = Clock::now();
  }

 private:
  const SelectionOptions& options_;
  const std::function<void(const CurvePoint&)>& on_progress_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_pause_ = begin_;  // of the calling thread
  std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<std::uint64_t> n_proposals_{0};
  std::atomic<bool> stop_{false};
};

Climb climb(const NgramClasses& classes, std::size_t size, std::uint64_t stream, Budget& budget) {
  Climber climber(classes, size, stream);
  while (climber.add_next()) budget.spend(0, climber);
  while (!climber.is_finished() && !budget.is_spent()) {
    climber.step();
    budget.spend(climber.n_in_a_step(), climber);
  }
  return climber.finish();
}

}  // namespace

Comparison compare(std::span<const TextView> answers, std::span<const std::uint32_t> rows, std::size_t max_order) {
  const SymbolTexts texts = read_symbols(answers);
  check_sums(texts, rows.size(), max_order);
  const SortedWindows windows(texts, max_order);
  std::vector<bool> is_chosen(texts.size());
  for (const std::uint32_t row : rows) is_chosen[row] = true;
  Comparer comparer(windows, std::move(is_chosen));
  windows.visit(0, windows.size(), comparer);
  return std::move(comparer.comparison);
}

std::vector<Climb> select(std::span<const TextView> answers, const SelectionOptions& options, std::size_t n_threads,
                          const std::function<void(const CurvePoint&)>& on_progress) {
  check_size(options.size, answers.size());
  const SymbolTexts texts = read_symbols(answers);
  check_sums(texts, options.size, options.max_order);
  const NgramClasses classes(SortedWindows(texts, options.max_order), texts.size());
  Budget budget(options, on_progress);
  Generator streams(options.stream);
  std::vector<std::uint64_t> stream_of(options.n_restarts);
  for (std::uint64_t& stream : stream_of) stream = streams.draw();
  // With a limit, the number of swaps of a climb depends on the previous climbs.
  const bool is_limited = options.n_proposals || options.seconds;
  std::vector<Climb> climbs(options.n_restarts);
  run_parallel(climbs.size(), is_limited ? 1 : n_threads, {}, [&] {
    return [&](std::size_t i) {
      if (i == 0 || !budget.is_spent()) climbs[i] = climb(classes, options.size, stream_of[i], budget);
    };
  });
  std::erase_if(climbs, [](const Climb& climb) { return climb.rows.empty(); });
  return climbs;
}

}  // namespace pfgen
