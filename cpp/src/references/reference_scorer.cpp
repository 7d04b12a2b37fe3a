#include "pfgen/reference_scorer.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "references/comparison.hpp"
#include "scoring/row_blocks.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kRowsAtATime = 32;                           // that a thread takes
constexpr std::size_t kCodePointsAtATime = kLongestReferenceText;  // of answers that are compared together

constexpr std::size_t kNoTokens = kTokenPlaces;

// The place of the tokens that a metric reads.
std::size_t place_of_tokens(const ReferenceOptions& options, ReferenceMetric metric) {
  if (metric == ReferenceMetric::kChrf || metric == ReferenceMetric::kChrfWords) return kNoTokens;
  if (options.has_own_tokens) return kOwnTokens;
  const auto usual = [&] {
    switch (metric) {
      case ReferenceMetric::kBleu:
        return Tokenizer::k13a;
      case ReferenceMetric::kTokenF1:
      case ReferenceMetric::kExactMatch:
        return Tokenizer::kSquad;
      case ReferenceMetric::kRepeated:
      case ReferenceMetric::kDistinct:
        return Tokenizer::kChar;
      default:
        return Tokenizer::kRouge;
    }
  };
  return static_cast<std::size_t>(options.tokenizer.value_or(static_cast<std::uint8_t>(usual())));
}

std::vector<Wanted> wanted_metrics(const ReferenceOptions& options) {
  std::vector<Wanted> wanted;
  std::size_t column = 0;
  std::size_t counts = 0;
  for (const WantedMetric& metric : options.metrics) {
    wanted.push_back({metric, column, counts, place_of_tokens(options, metric.metric)});
    column += metric.n_columns();
    counts += options.n_counts(metric.metric);
  }
  return wanted;
}

bool is_chrf(const Wanted& one) {
  return one.metric == ReferenceMetric::kChrf || one.metric == ReferenceMetric::kChrfWords;
}

bool counts_ngrams(const Wanted& one) { return one.metric == ReferenceMetric::kRougeN || !one.needs_references(); }

bool reads_sequences(const Wanted& one) {
  return one.metric != ReferenceMetric::kBleu && !is_chrf(one) && !counts_ngrams(one);
}

template <class Selects>
std::vector<Wanted> selected(const std::vector<Wanted>& wanted, const Selects& selects) {
  std::vector<Wanted> found;
  std::ranges::copy_if(wanted, std::back_inserter(found), selects);
  return found;
}

std::vector<std::unique_ptr<Comparison>> make_comparisons(const ReferenceOptions& options) {
  const std::vector<Wanted> wanted = wanted_metrics(options);
  std::vector<std::unique_ptr<Comparison>> comparisons;
  for (const Wanted& one : wanted) {
    if (one.metric == ReferenceMetric::kBleu) comparisons.push_back(compare_bleu(options, one));
  }
  const std::vector<Wanted> chrf_kinds = selected(wanted, is_chrf);
  if (!chrf_kinds.empty()) comparisons.push_back(compare_chrf(options, chrf_kinds));
  for (std::size_t place = 0; place < kTokenPlaces; ++place) {
    const auto at_place = [&](bool (*is_of)(const Wanted&)) {
      return selected(wanted, [&](const Wanted& one) { return one.tokens == place && is_of(one); });
    };
    const std::vector<Wanted> of_ngrams = at_place(counts_ngrams);
    if (!of_ngrams.empty()) comparisons.push_back(compare_ngrams(of_ngrams));
    const std::vector<Wanted> of_sequences = at_place(reads_sequences);
    if (!of_sequences.empty()) comparisons.push_back(compare_sequences(of_sequences));
  }
  return comparisons;
}

// Throws InvalidReferenceText for the first text that is invalid UTF-8 or too long.
void check(const ReferenceBatch& batch) {
  std::vector<char32_t> code_points;
  for (const bool is_reference : {false, true}) {
    const std::span<const TextView> texts = is_reference ? batch.references : batch.answers;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const TextView& text = texts[i];
      const bool is_long = text.n_units > kLongestReferenceText;
      if (text.is_null || (text.encoding != Encoding::kUtf8 && !is_long)) continue;
      const std::size_t invalid = decode(text, is_long ? kLongestReferenceText + 1 : 0, code_points);
      if (invalid != kNoError || (is_long && code_points.size() > kLongestReferenceText)) {
        throw InvalidReferenceText{is_reference, i, invalid};
      }
    }
  }
}

}  // namespace

std::size_t WantedMetric::n_columns() const noexcept {
  const bool is_rouge =
      metric == ReferenceMetric::kRougeN || metric == ReferenceMetric::kRougeL || metric == ReferenceMetric::kRougeLsum;
  return is_rouge ? 3 : 1;
}

std::size_t ReferenceOptions::n_counts(ReferenceMetric metric) const noexcept {
  if (metric == ReferenceMetric::kBleu) return bleu.n_counts();
  if (metric == ReferenceMetric::kChrf) return 3 * chrf.char_order;
  if (metric == ReferenceMetric::kChrfWords) return 3 * (chrf.char_order + kChrfWordOrder);
  return 0;
}

ReferenceScorer::ReferenceScorer(ReferenceOptions options) : options_(std::move(options)) {}

std::size_t ReferenceScorer::n_columns() const noexcept {
  std::size_t n = 0;
  for (const WantedMetric& metric : options_.metrics) n += metric.n_columns();
  return n;
}

std::size_t ReferenceScorer::n_counts() const noexcept {
  std::size_t n = 0;
  for (const WantedMetric& metric : options_.metrics) n += options_.n_counts(metric.metric);
  return n;
}

// Scores the rows that one thread has taken.
class ReferenceScorer::Block {
 public:
  Block(const ReferenceScorer& scorer, const ReferenceBatch& batch, std::span<const Answer> answers,
        std::span<double> columns, std::span<std::int32_t> counts)
      : options_(scorer.options_),
        batch_(batch),
        answers_(answers),
        columns_(columns),
        counts_(counts),
        n_counts_(scorer.n_counts()),
        comparisons_(make_comparisons(scorer.options_)) {
    for (const Wanted& one : wanted_metrics(options_)) {
      if (one.tokens != kNoTokens) needs_tokens_[one.tokens] = true;
      if (one.metric == ReferenceMetric::kRougeLsum) sentence_place_ = one.tokens;
    }
  }

  InvalidRow score(std::span<const std::size_t> rows) {
    while (!rows.empty()) {
      std::span<const std::size_t> of_list = take_same_question(answers_, rows);
      while (!of_list.empty()) score_some(of_list);
    }
    return {};
  }

 private:
  // Scores the first rows, and takes them from the front of `rows`.
  void score_some(std::span<const std::size_t>& rows) {
    std::size_t n_code_points = 0;
    rows_.clear();
    vocabulary_.clear();
    while (!rows.empty() && n_code_points < kCodePointsAtATime) {
      const std::size_t row = rows.front();
      rows = rows.subspan(1);
      if (answers_[row].text.is_null) continue;
      rows_.push_back(row);
      if (prepared_.size() < rows_.size()) prepared_.emplace_back();
      prepare(answers_[row].text, row, false, prepared_[rows_.size() - 1]);
      n_code_points += prepared_[rows_.size() - 1].text.size();
    }
    if (rows_.empty()) return;
    const std::span answers(prepared_.data(), rows_.size());
    const std::uint32_t list = answers_[rows_.front()].question;
    for (const auto& comparison : comparisons_) comparison->begin(answers);
    for (std::size_t i = batch_.begins[list]; i < batch_.begins[list + 1]; ++i) {
      prepare(batch_.references[i], i, true, reference_);
      for (const auto& comparison : comparisons_) comparison->add_reference(reference_);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::size_t row = rows_[i];
      const ResultRow result{columns_.data() + row, answers_.size(), counts_.data() + row * n_counts_};
      for (const auto& comparison : comparisons_) comparison->finish(i, result);
    }
  }

  void prepare(const TextView& view, std::size_t number, bool is_reference, PreparedText& out) {
    decode(view, kLongestReferenceText, code_points_);
    out.text.assign(code_points_.begin(), code_points_.end());
    if (options_.is_lower_case) lower(out.text);
    for (std::size_t place = 0; place < kOwnTokens; ++place) {
      if (!needs_tokens_[place]) continue;
      out.tokens[place].clear();
      tokenize(static_cast<Tokenizer>(place), out.text, vocabulary_, out.tokens[place]);
    }
    if (sentence_place_ < kOwnTokens) {
      tokenize_sentences(static_cast<Tokenizer>(sentence_place_), out.text, vocabulary_, out.sentences);
    }
    if (needs_tokens_[kOwnTokens])
      take_own_tokens(is_reference ? batch_.of_references : batch_.of_answers, number, out);
  }

  void take_own_tokens(const OwnTokens& own, std::size_t number, PreparedText& out) const {
    const auto tokens = own.texts[number];
    out.tokens[kOwnTokens].assign(tokens.begin(), tokens.end());
    if (sentence_place_ != kOwnTokens) return;
    out.sentences.tokens.clear();
    out.sentences.ends.clear();
    for (const std::uint32_t token : own.sentences[number]) {
      if (token == OwnTokens::kEndOfSentence) {
        out.sentences.ends.push_back(out.sentences.tokens.size());
      } else {
        out.sentences.tokens.push_back(token);
      }
    }
  }

  const ReferenceOptions& options_;
  const ReferenceBatch& batch_;
  std::span<const Answer> answers_;
  std::span<double> columns_;
  std::span<std::int32_t> counts_;
  std::size_t n_counts_;
  std::vector<std::unique_ptr<Comparison>> comparisons_;
  std::array<bool, kTokenPlaces> needs_tokens_{};
  std::size_t sentence_place_ = kNoTokens;
  std::vector<char32_t> code_points_;
  Vocabulary vocabulary_;
  std::vector<std::size_t> rows_;  // that are compared together
  std::vector<PreparedText> prepared_;
  PreparedText reference_;
};

void ReferenceScorer::score(const ReferenceBatch& batch, std::size_t n_threads, std::span<double> columns,
                            std::span<std::int32_t> counts, const std::function<void()>& on_pause) const {
  std::ranges::fill(columns, std::numeric_limits<double>::quiet_NaN());
  std::ranges::fill(counts, 0);
  std::vector<Answer> answers;
  answers.reserve(batch.answers.size());
  for (std::size_t row = 0; row < batch.answers.size(); ++row) {
    const bool has_list = batch.lists[row] != ReferenceBatch::kNoList;
    TextView text = batch.answers[row];
    text.is_null |= !has_list;
    answers.push_back({text, has_list ? batch.lists[row] : 0, nullptr});
  }
  check(batch);
  score_in_blocks(answers, std::max<std::size_t>(batch.begins.size(), 2) - 1, kRowsAtATime, n_threads, on_pause,
                  [&] { return Block(*this, batch, answers, columns, counts); });
}

}  // namespace pfgen
