#include "pfgen/reference_scorer.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "references/comparison.hpp"
#include "references/pauses.hpp"
#include "references/text_preparer.hpp"
#include "scoring/row_blocks.hpp"
#include "system/parallel.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kRowsAtATime = 32;  // that a thread takes
// A list is prepared once for all rows if it is no larger, which bounds memory.
constexpr std::size_t kMostKept = 4096;
constexpr std::size_t kMostUnitsKept = kLongestReferenceText;

// The place of the tokens that a metric reads.
std::size_t place_of_tokens(const ReferenceOptions& options, ReferenceMetric metric) {
  if (metric == ReferenceMetric::kChrf || metric == ReferenceMetric::kChrfWords) {
    return options.chrf.has_white_space ? kAllCharacters : static_cast<std::size_t>(Tokenizer::kChar);
  }
  if (options.has_own_tokens) return kOwnTokens;
  const auto usual = [&] {
    switch (metric) {
      case ReferenceMetric::kBleu:
      case ReferenceMetric::kNmtBleu:
      case ReferenceMetric::kBleuRouge:
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
  return static_cast<std::size_t>(options.tokenizer.value_or(usual()));
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

enum class Group : std::uint8_t { kBleu, kChrf, kRougeN, kItself, kSequences };

Group group_of(ReferenceMetric metric) {
  switch (metric) {
    case ReferenceMetric::kBleu:
    case ReferenceMetric::kNmtBleu:
    case ReferenceMetric::kBleuRouge:
      return Group::kBleu;
    case ReferenceMetric::kChrf:
    case ReferenceMetric::kChrfWords:
      return Group::kChrf;
    case ReferenceMetric::kRougeN:
      return Group::kRougeN;
    case ReferenceMetric::kRepeated:
    case ReferenceMetric::kDistinct:
      return Group::kItself;
    default:
      return Group::kSequences;
  }
}

std::unique_ptr<Comparison> make_comparison(const ReferenceOptions& options, std::span<const Wanted> wanted,
                                            Steps& steps) {
  switch (group_of(wanted.front().metric)) {
    case Group::kBleu:
      return compare_bleu(options, wanted, steps);
    case Group::kChrf:
      return compare_chrf(options, wanted);
    case Group::kRougeN:
      return compare_rouge_n(options, wanted);
    case Group::kItself:
      return compare_with_itself(wanted);
    default:
      return compare_sequences(options, wanted, steps);
  }
}

using Groups = std::map<std::pair<Group, std::size_t>, std::vector<Wanted>>;

// The metrics by group and by the place of their tokens.
Groups grouped(std::span<const Wanted> wanted) {
  Groups groups;
  for (const Wanted& request : wanted) groups[{group_of(request.metric), request.tokens}].push_back(request);
  return groups;
}

// One comparison for all metrics of a group that have the same tokens.
std::vector<std::unique_ptr<Comparison>> make_comparisons(const ReferenceOptions& options, const Groups& groups,
                                                          Steps& steps) {
  std::vector<std::unique_ptr<Comparison>> comparisons;
  comparisons.reserve(groups.size());
  for (const auto& [key, wanted] : groups) comparisons.push_back(make_comparison(options, wanted, steps));
  return comparisons;
}

bool has_equal_lists(const ReferenceBatch& batch, std::uint32_t a, std::uint32_t b) {
  if (a == b) return true;
  const auto texts_of = [&](std::uint32_t list) {
    return batch.references.subspan(batch.begins[list], batch.begins[list + 1] - batch.begins[list]);
  };
  return std::ranges::equal(texts_of(a), texts_of(b), are_equal);
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
        throw InvalidReferenceText(is_reference, i, invalid);
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
        std::span<double> columns, std::span<std::int32_t> counts, Pauses& pauses)
      : batch_(batch),
        steps_(pauses),
        answers_(answers),
        columns_(columns),
        counts_(counts),
        n_counts_(scorer.n_counts()),
        reads_references_(std::ranges::any_of(scorer.options_.metrics, &WantedMetric::needs_references)),
        comparisons_(make_comparisons(scorer.options_, grouped(wanted_metrics(scorer.options_)), steps_)),
        preparer_(scorer.options_, wanted_metrics(scorer.options_)) {}

  InvalidRow score(std::span<const std::size_t> rows) {
    try {
      while (!rows.empty()) score_list(take_same_question(answers_, rows));
    } catch (const Stopped&) {
      return {};  // the calling thread throws the reason
    }
    return {};
  }

 private:
  // Scores rows with one list of references.
  void score_list(std::span<const std::size_t> rows) {
    const std::uint32_t list = answers_[rows.front()].question;
    const std::size_t first = batch_.begins[list];
    const std::size_t n = reads_references_ ? batch_.begins[list + 1] - first : 0;
    const bool is_kept = is_small(batch_.references.subspan(first, n));
    const std::size_t n_kept = is_kept ? n : 0;
    preparer_.clear();
    if (references_.size() < n_kept) references_.resize(n_kept);
    for (std::size_t i = 0; i < n_kept; ++i) prepare_reference(first + i, references_[i]);
    for (const std::size_t row : rows) {
      if (answers_[row].text.is_null) continue;
      preparer_.prepare(answers_[row].text, batch_.of_answers, row, answer_);
      for (const auto& comparison : comparisons_) comparison->set_answer(answer_);
      for (std::size_t i = 0; i < n; ++i) {
        if (!is_kept) prepare_reference(first + i, reference_);
        add_reference(is_kept ? references_[i] : reference_, row);
        steps_.add(16 * (answers_[row].text.n_units + batch_.references[first + i].n_units + 4));
      }
      const ResultRow result{columns_.data() + row, answers_.size(), counts_.data() + row * n_counts_};
      for (const auto& comparison : comparisons_) comparison->finish(result);
    }
  }

  void add_reference(const PreparedText& reference, std::size_t row) {
    try {
      for (const auto& comparison : comparisons_) comparison->add_reference(reference);
    } catch (const LcsTooLarge& error) {
      throw LinesTooLong(row, error.what());
    }
  }

  void prepare_reference(std::size_t number, PreparedText& out) {
    preparer_.prepare(batch_.references[number], batch_.of_references, number, out);
  }

  static bool is_small(std::span<const TextView> references) {
    std::size_t n_units = 0;
    for (const TextView& reference : references) n_units += reference.n_units;
    return references.size() <= kMostKept && n_units <= kMostUnitsKept;
  }

  const ReferenceBatch& batch_;
  Steps steps_;
  std::span<const Answer> answers_;
  std::span<double> columns_;
  std::span<std::int32_t> counts_;
  std::size_t n_counts_;
  bool reads_references_;
  std::vector<std::unique_ptr<Comparison>> comparisons_;
  TextPreparer preparer_;
  PreparedText answer_;
  std::vector<PreparedText> references_;  // of the list, if they are kept for all rows
  PreparedText reference_;                // or else one after the other
};

void ReferenceScorer::score(const ReferenceBatch& batch, std::size_t n_threads, std::span<double> columns,
                            std::span<std::int32_t> counts, const std::function<void()>& on_pause) const {
  std::ranges::fill(columns, std::numeric_limits<double>::quiet_NaN());
  std::ranges::fill(counts, 0);
  check(batch);
  if (batch.begins.size() < 2) return;  // no row has a list
  std::vector<Answer> answers;
  answers.reserve(batch.answers.size());
  std::uint32_t list = 0;
  for (std::size_t row = 0; row < batch.answers.size(); ++row) {
    TextView text = batch.answers[row];
    if (batch.lists[row] == ReferenceBatch::kNoList) {
      text.is_null = true;
    } else if (row == 0 || !has_equal_lists(batch, batch.lists[row], list)) {
      list = batch.lists[row];
    }
    answers.push_back({text, list, nullptr});
  }
  Pauses pauses(on_pause);
  score_in_blocks(
      answers, batch.begins.size() - 1, kRowsAtATime, n_threads, [&] { pauses.check(); },
      [&](const RowsByQuestion&) { return Block(*this, batch, answers, columns, counts, pauses); });
}

// Scores the rows of matrices, each of one answer.
class ReferenceScorer::PairBlock {
 public:
  PairBlock(const ReferenceScorer& scorer, const Groups& groups, std::span<const PreparedText> references,
            Pauses& pauses)
      : references_(references),
        steps_(pauses),
        counts_(scorer.n_counts()),
        comparisons_(make_comparisons(scorer.options_, groups, steps_)) {}

  // `first` is the first pair of the answer, which is number `row`.
  void score(const PreparedText& answer, std::size_t row, std::size_t n_steps, double* first, std::size_t n_pairs) {
    try {
      for (const auto& comparison : comparisons_) {
        comparison->set_answer(answer);
        for (std::size_t i = 0; i < references_.size(); ++i) {
          comparison->forget_references();
          comparison->add_reference(references_[i]);
          comparison->finish({first + i, n_pairs, counts_.data()});
          steps_.add(n_steps);
        }
      }
    } catch (const LcsTooLarge& error) {
      throw LinesTooLong(row, error.what());
    } catch (const Stopped&) {
      return;  // the calling thread throws the reason
    }
  }

 private:
  std::span<const PreparedText> references_;
  Steps steps_;
  std::vector<std::int32_t> counts_;
  std::vector<std::unique_ptr<Comparison>> comparisons_;
};

void ReferenceScorer::score_pairs(const ReferenceBatch& batch, std::size_t n_threads, std::span<double> columns,
                                  const std::function<void()>& on_pause) const {
  check(batch);
  Pauses pauses(on_pause);
  Steps steps(pauses);
  const std::vector<Wanted> wanted = wanted_metrics(options_);
  TextPreparer preparer(options_, wanted);
  const auto prepared = [&](std::span<const TextView> texts, const OwnTokens& own) {
    std::vector<PreparedText> result(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      preparer.prepare(texts[i], own, i, result[i]);
      steps.add(16 * texts[i].n_units);
    }
    return result;
  };
  const std::vector<PreparedText> answers = prepared(batch.answers, batch.of_answers);
  const bool is_same = batch.answers.data() == batch.references.data();
  const std::vector<PreparedText> others =
      prepared(is_same ? std::span<const TextView>() : batch.references, batch.of_references);
  const std::span<const PreparedText> references = is_same ? answers : others;
  Groups groups = grouped(wanted);
  std::erase_if(groups, [&](const auto& group) {
    return group.first.first == Group::kChrf &&
           score_chrf_pairs(options_, group.second, answers, references, n_threads, pauses, columns.data());
  });
  if (groups.empty()) return;
  run_parallel(
      answers.size(), n_threads, [&] { pauses.check(); },
      [&] {
        return [&, block = PairBlock(*this, groups, references, pauses)](std::size_t row) mutable {
          const std::size_t n_steps = 16 * (batch.answers[row].n_units + 64);
          block.score(answers[row], row, n_steps, columns.data() + row * references.size(),
                      answers.size() * references.size());
        };
      });
}

}  // namespace pfgen
