// chrF of all pairs of texts, 64 references at a time.
//
// A text is a set whose elements are the k-th occurrences of its n-grams, so two texts share as many n-grams as they
// share elements. Each element has a word with a bit for each of 64 references that contain it. Adding up the words of
// the elements of an answer, bit by bit, gives its matches with all 64 references.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "pfgen/reference_metrics.hpp"
#include "references/comparison.hpp"
#include "references/ngram_matcher.hpp"
#include "system/key_table.hpp"
#include "system/parallel.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kLanes = 64;              // references at a time
constexpr std::size_t kAnswersOfTask = 256;     // with one block of references
constexpr std::size_t kMostElements = 1 << 24;  // of all texts, which bounds memory
constexpr std::size_t kMostWords = 1 << 26;     // of all threads, too

// The elements of texts, by order: numbers from 1 that texts share.
class ElementSets {
 public:
  explicit ElementSets(std::size_t order) : order_(order), ends_(order + 1) {}

  std::size_t order() const noexcept { return order_; }
  std::size_t n_elements() const noexcept { return last_.size(); }

  void add(Tokens symbols) {
    const std::size_t first = begins_.size() - 1;
    for (std::size_t n = 1; n <= order_; ++n) begins_.push_back(begins_.back() + n_ngrams(symbols.size(), n));
    elements_.resize(begins_.back());
    ++n_texts_;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      // ends_[n] is the n-gram of n symbols that ends here.
      for (std::size_t n = std::min(order_, i + 1); n > 0; --n) {
        ends_[n] = child(ends_[n - 1], symbols[i]);
        const Last last = last_[ends_[n]];
        const std::uint32_t element = last.text == n_texts_ ? child(last.element, kAgain) : ends_[n];
        last_[ends_[n]] = {n_texts_, element};
        elements_[begins_[first + n - 1] + i + 1 - n] = element;
      }
    }
  }

  // The elements of n symbols of a text, or all of its elements.
  std::span<const std::uint32_t> of_order(std::size_t text, std::size_t n) const {
    return range(text * order_ + n - 1, 1);
  }
  std::span<const std::uint32_t> of_text(std::size_t text) const { return range(text * order_, order_); }

 private:
  static constexpr std::uint32_t kAgain = 0xFFFFFFFF;  // in place of a symbol: the next occurrence

  // The last occurrence of an n-gram.
  struct Last {
    std::uint32_t text = 0;
    std::uint32_t element = 0;
  };

  std::uint32_t child(std::uint32_t parent, std::uint32_t symbol) {
    std::uint32_t& number = numbers_[std::uint64_t{parent} << 32 | symbol];
    if (number == 0) {
      number = static_cast<std::uint32_t>(last_.size());
      last_.emplace_back();
    }
    return number;
  }

  std::span<const std::uint32_t> range(std::size_t first, std::size_t n) const {
    return std::span(elements_).subspan(begins_[first], begins_[first + n] - begins_[first]);
  }

  std::size_t order_;
  std::uint32_t n_texts_ = 0;
  KeyTable<0> numbers_;                            // of n-grams, and of further occurrences
  std::vector<Last> last_ = std::vector<Last>(1);  // by number; that of the root is not used
  std::vector<std::uint32_t> ends_;
  std::vector<std::uint32_t> elements_;  // text after text, order after order
  std::vector<std::size_t> begins_{0};   // of each order of each text
};

// Adds up words: for each of 64 bits, in how many words it is set. Words of equal weight are added in threes.
class BitSums {
 public:
  void add(std::uint64_t word) {
    std::size_t level = 0;
    for (; (n_ >> level & 1) != 0; ++level) {
      const std::uint64_t half = planes_[level] ^ waiting_[level];
      const std::uint64_t carry = (planes_[level] & waiting_[level]) | (half & word);
      planes_[level] = half ^ word;
      word = carry;
    }
    waiting_[level] = word;
    ++n_;
  }

  // Writes the sums, and begins again from 0.
  void take(std::array<std::uint32_t, kLanes>& sums) {
    sums.fill(0);
    const auto n_levels = static_cast<std::size_t>(std::bit_width(n_));
    for (std::size_t level = 0; level < n_levels; ++level) {
      std::uint64_t word = (n_ >> level & 1) != 0 ? waiting_[level] : 0;
      for (std::size_t higher = level; word != 0; ++higher) {
        const std::uint64_t carry = planes_[higher] & word;
        planes_[higher] ^= word;
        word = carry;
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        sums[lane] += static_cast<std::uint32_t>(planes_[level] >> lane & 1) << level;
      }
      planes_[level] = 0;
    }
    n_ = 0;
  }

 private:
  static constexpr std::size_t kLevels = 32;

  std::size_t n_ = 0;  // words so far; its bits tell where a word waits
  std::array<std::uint64_t, kLevels> planes_{};
  std::array<std::uint64_t, kLevels> waiting_{};
};

// The texts as sets of n-grams of characters or words.
struct SymbolSets {
  std::size_t place;  // of the tokens
  ElementSets sets;
};

// Scores answers with a block of references.
class ChrfBlock {
 public:
  ChrfBlock(const ReferenceOptions& options, std::span<const Wanted> wanted, std::span<const SymbolSets> symbols,
            std::span<const PreparedText> answers, std::span<const PreparedText> references, std::size_t first,
            double* columns, Pauses& pauses)
      : options_(options),
        wanted_(wanted),
        symbols_(symbols),
        answers_(answers),
        references_(references),
        first_(first),
        columns_(columns),
        steps_(pauses) {
    std::size_t n_orders = 0;
    for (const SymbolSets& kind : symbols_) n_orders += kind.sets.order();
    matches_.resize(n_orders);
    counts_.resize(3 * n_orders);
  }

  void score(std::size_t begin, std::size_t end, std::size_t first_reference) {
    if (first_reference != block_ || bits_.empty()) fill_bits(first_reference);
    for (std::size_t answer = begin; answer < end; ++answer) {
      std::size_t k = 0;
      for (std::size_t s = 0; s < symbols_.size(); ++s) {
        const ElementSets& sets = symbols_[s].sets;
        for (std::size_t n = 1; n <= sets.order(); ++n) {
          for (const std::uint32_t element : sets.of_order(answer, n)) sums_.add(bits_[s][element]);
          sums_.take(matches_[k++]);
        }
        steps_.add(8 * sets.of_text(answer).size() + 4096);
      }
      for (std::size_t lane = 0; lane < n_lanes(); ++lane) write(answer, lane);
    }
  }

 private:
  std::size_t n_lanes() const { return std::min(kLanes, references_.size() - block_); }

  void fill_bits(std::size_t first_reference) {
    block_ = first_reference;
    bits_.resize(symbols_.size());
    for (std::size_t s = 0; s < symbols_.size(); ++s) {
      bits_[s].assign(symbols_[s].sets.n_elements(), 0);
      for (std::size_t lane = 0; lane < n_lanes(); ++lane) {
        const auto elements = symbols_[s].sets.of_text(first_ + block_ + lane);
        for (const std::uint32_t element : elements) bits_[s][element] |= std::uint64_t{1} << lane;
        steps_.add(elements.size());
      }
    }
  }

  // The scores of an answer with one reference.
  void write(std::size_t answer, std::size_t lane) {
    const std::size_t reference = block_ + lane;
    std::size_t k = 0;
    for (const SymbolSets& kind : symbols_) {
      for (std::size_t n = 1; n <= kind.sets.order(); ++n, ++k) {
        const std::size_t n_of_reference = n_ngrams(references_[reference].tokens[kind.place].size(), n);
        const std::size_t n_of_answer = n_ngrams(answers_[answer].tokens[kind.place].size(), n);
        counts_[3 * k] = n_of_reference == 0 ? 0 : static_cast<std::int64_t>(n_of_answer);
        counts_[3 * k + 1] = static_cast<std::int64_t>(n_of_reference);
        counts_[3 * k + 2] = matches_[k][lane];
      }
    }
    for (const Wanted& request : wanted_) {
      const std::span counts(counts_.data(), options_.n_counts(request.metric));
      columns_[(request.column * answers_.size() + answer) * references_.size() + reference] =
          chrf(options_.chrf, counts);
    }
  }

  const ReferenceOptions& options_;
  std::span<const Wanted> wanted_;
  std::span<const SymbolSets> symbols_;
  std::span<const PreparedText> answers_;
  std::span<const PreparedText> references_;
  std::size_t first_;  // the number of the first reference among the texts of the sets
  double* columns_;
  Steps steps_;
  std::size_t block_ = 0;                         // the first reference of the block
  std::vector<std::vector<std::uint64_t>> bits_;  // by symbols and element: the references that contain it
  BitSums sums_;
  std::vector<std::array<std::uint32_t, kLanes>> matches_;  // by order
  std::vector<std::int64_t> counts_;
};

}  // namespace

bool score_chrf_pairs(const ReferenceOptions& options, std::span<const Wanted> wanted,
                      std::span<const PreparedText> answers, std::span<const PreparedText> references,
                      std::size_t n_threads, Pauses& pauses, double* columns) {
  std::vector<SymbolSets> symbols{{wanted.front().tokens, ElementSets(options.chrf.char_order)}};
  const auto has_words = [](const Wanted& request) { return request.metric == ReferenceMetric::kChrfWords; };
  if (std::ranges::any_of(wanted, has_words)) symbols.push_back({kChrfWords, ElementSets(kChrfWordOrder)});
  const bool is_same = answers.data() == references.data();
  const auto texts = is_same ? std::vector{answers} : std::vector{answers, references};
  std::size_t n_elements = 0;
  for (const SymbolSets& kind : symbols) {
    for (const auto& part : texts) {
      for (const PreparedText& text : part) n_elements += kind.sets.order() * text.tokens[kind.place].size();
    }
  }
  if (n_elements > kMostElements) return false;
  Steps steps(pauses);
  for (SymbolSets& kind : symbols) {
    for (const auto& part : texts) {
      for (const PreparedText& text : part) {
        kind.sets.add(text.tokens[kind.place]);
        steps.add(16 * kind.sets.order() * text.tokens[kind.place].size());
      }
    }
  }
  std::size_t n_words = 0;  // of a thread
  for (const SymbolSets& kind : symbols) n_words += kind.sets.n_elements();
  n_threads = std::min(n_threads, kMostWords / n_words);
  const std::size_t n_chunks = (answers.size() + kAnswersOfTask - 1) / kAnswersOfTask;
  const std::size_t n_blocks = (references.size() + kLanes - 1) / kLanes;
  run_parallel(
      n_blocks * n_chunks, n_threads, [&] { pauses.check(); },
      [&] {
        return [&, block = ChrfBlock(options, wanted, symbols, answers, references, is_same ? 0 : answers.size(),
                                     columns, pauses)](std::size_t task) mutable {
          const std::size_t begin = task % n_chunks * kAnswersOfTask;
          try {
            block.score(begin, std::min(begin + kAnswersOfTask, answers.size()), task / n_chunks * kLanes);
          } catch (const Stopped&) {
            return;  // the calling thread throws the reason
          }
        };
      });
  return true;
}

}  // namespace pfgen
