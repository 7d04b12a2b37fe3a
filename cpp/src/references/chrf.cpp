#include <algorithm>
#include <array>

#include "pfgen/reference_metrics.hpp"
#include "references/comparison.hpp"
#include "references/ngram_matcher.hpp"

namespace pfgen {
namespace {

// Appends the words of a text, without a punctuation mark at their end or else at their start, which is a word itself.
void split_words(std::u32string_view text, Vocabulary& vocabulary, std::vector<TokenId>& words) {
  for (std::size_t begin = 0; begin < text.size();) {
    if (is_space(text[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    while (end < text.size() && !is_space(text[end])) ++end;
    std::size_t cut = end;
    if (end - begin > 1) {
      if (is_ascii_punctuation(text[end - 1])) {
        cut = end - 1;
      } else if (is_ascii_punctuation(text[begin])) {
        cut = begin + 1;
      }
    }
    words.push_back(vocabulary.number_of(text.substr(begin, cut - begin)));
    if (cut < end) words.push_back(vocabulary.number_of(text.substr(cut, end - cut)));
    begin = end;
  }
}

// The symbols of a text: characters, and words if they are wanted.
struct Symbols {
  std::vector<std::uint32_t> characters;
  std::vector<TokenId> words;
};

class Chrf : public Comparison {
 public:
  Chrf(const ReferenceOptions& options, std::span<const Wanted> wanted)
      : options_(options.chrf), characters_(options_.char_order), words_(kChrfWordOrder) {
    for (const Wanted& one : wanted) kinds_.push_back({one, options.n_counts(one.metric), {}, {}});
    has_words_ = std::ranges::any_of(wanted, [](const Wanted& one) { return is_with_words(one); });
    counts_.resize(3 * (options_.char_order + kChrfWordOrder));
    matches_.resize(std::max(options_.char_order, kChrfWordOrder));
  }

  void begin(std::span<const PreparedText> answers) override {
    vocabulary_.clear();
    std::size_t n_symbols = 0;
    for (const PreparedText& answer : answers) n_symbols += answer.text.size();
    characters_.begin(n_symbols);
    words_.begin(has_words_ ? n_symbols : 0);
    sizes_.clear();
    for (const PreparedText& answer : answers) {
      sizes_.push_back(read(answer.text));
      characters_.add_answer(symbols_.characters);
      words_.add_answer(symbols_.words);
    }
    for (Kind& kind : kinds_) {
      kind.scores.assign(answers.size(), -1);
      kind.counts.assign(answers.size() * kind.n_counts, 0);
    }
  }

  void add_reference(const PreparedText& reference) override {
    const Sizes size = read(reference.text);
    characters_.count(symbols_.characters);
    words_.count(symbols_.words);
    for (std::size_t answer = 0; answer < sizes_.size(); ++answer) {
      std::int64_t* counts = counts_.data();
      counts = write_counts(characters_, answer, sizes_[answer].n_characters, size.n_characters, counts);
      if (has_words_) write_counts(words_, answer, sizes_[answer].n_words, size.n_words, counts);
      for (Kind& kind : kinds_) {
        const std::span of_kind(counts_.data(), kind.n_counts);
        const double score = chrf(options_, of_kind);
        if (score <= kind.scores[answer]) continue;
        kind.scores[answer] = score;
        std::ranges::copy(of_kind, kind.counts.begin() + static_cast<std::ptrdiff_t>(answer * kind.n_counts));
      }
    }
  }

  void finish(std::size_t answer, const ResultRow& row) override {
    for (const Kind& kind : kinds_) {
      row.set(kind.wanted.column, kind.scores[answer]);
      row.set_counts(kind.wanted, std::span(kind.counts).subspan(answer * kind.n_counts, kind.n_counts));
    }
  }

 private:
  struct Sizes {
    std::size_t n_characters;
    std::size_t n_words;
  };
  // chrF or chrF++, with the best reference of each answer so far.
  struct Kind {
    Wanted wanted;
    std::size_t n_counts;
    std::vector<double> scores;
    std::vector<std::int64_t> counts;
  };

  static bool is_with_words(const Wanted& wanted) { return wanted.metric == ReferenceMetric::kChrfWords; }

  Sizes read(std::u32string_view text) {
    symbols_.characters.clear();
    for (const char32_t c : text) {
      if (options_.has_white_space || !is_space(c)) symbols_.characters.push_back(c);
    }
    symbols_.words.clear();
    if (has_words_) split_words(text, vocabulary_, symbols_.words);
    return {symbols_.characters.size(), symbols_.words.size()};
  }

  // Returns the place after the counts.
  std::int64_t* write_counts(const NgramMatcher& matcher, std::size_t answer, std::size_t n_symbols,
                             std::size_t n_reference_symbols, std::int64_t* counts) {
    const std::size_t order = matcher.order();
    matcher.match(answer, matches_.data());
    for (std::size_t i = 0; i < order; ++i) {
      const std::size_t n_of_reference = n_ngrams(n_reference_symbols, i + 1);
      *counts++ = n_of_reference == 0 ? 0 : static_cast<std::int64_t>(n_ngrams(n_symbols, i + 1));
      *counts++ = static_cast<std::int64_t>(n_of_reference);
      *counts++ = matches_[i];
    }
    return counts;
  }

  ChrfOptions options_;
  std::vector<Kind> kinds_;
  bool has_words_ = false;
  NgramMatcher characters_;
  NgramMatcher words_;
  Vocabulary vocabulary_;
  Symbols symbols_;                    // of the last text
  std::vector<Sizes> sizes_;           // by answer
  std::vector<std::int64_t> matches_;  // by order
  std::vector<std::int64_t> counts_;   // of an answer and a reference
};

}  // namespace

double chrf(const ChrfOptions& options, std::span<const std::int64_t> counts) {
  constexpr double kSmall = 1e-16;
  const double factor = options.beta * options.beta;
  const std::size_t order = counts.size() / 3;
  std::size_t n_used = 0;
  double sum = 0;
  double precisions = 0;
  double recalls = 0;
  for (std::size_t i = 0; i < order; ++i) {
    const auto n_answer = static_cast<double>(counts[3 * i]);
    const auto n_reference = static_cast<double>(counts[3 * i + 1]);
    const auto n_matches = static_cast<double>(counts[3 * i + 2]);
    const double precision = n_answer > 0 ? n_matches / n_answer : kSmall;
    const double recall = n_reference > 0 ? n_matches / n_reference : kSmall;
    const double denominator = factor * precision + recall;
    sum += denominator > 0 ? (1 + factor) * precision * recall / denominator : kSmall;
    if (n_answer > 0 && n_reference > 0) {
      precisions += precision;
      recalls += recall;
      ++n_used;
    }
  }
  if (options.is_smoothed) return 100 * sum / static_cast<double>(order);
  if (n_used == 0) return 0.0;
  precisions /= static_cast<double>(n_used);
  recalls /= static_cast<double>(n_used);
  if (precisions + recalls == 0) return 0.0;
  double score = (1 + factor) * precisions * recalls;
  score /= factor * precisions + recalls;
  return 100 * score;
}

std::unique_ptr<Comparison> compare_chrf(const ReferenceOptions& options, std::span<const Wanted> wanted) {
  return std::make_unique<Chrf>(options, wanted);
}

}  // namespace pfgen
