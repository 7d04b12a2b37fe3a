#include "pfgen/variant_scorer.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "formulas/averaging.hpp"
#include "formulas/fluency.hpp"
#include "formulas/helpfulness.hpp"
#include "formulas/support.hpp"
#include "formulas/truthfulness.hpp"
#include "index/references.hpp"
#include "pfgen/error.hpp"
#include "scoring/prefix_counts.hpp"
#include "scoring/row_blocks.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kAnswersAtATime = 256;  // that a thread takes

void check(const Constants& constants) {
  if (!(1 <= constants.first_order && constants.first_order <= constants.last_order &&
        constants.last_order <= kMaxOrder)) {
    throw CompileError("constants: expected orders in 1 to 10");
  }
  if (!(constants.threshold > 0.0 && constants.threshold <= 1.0)) throw CompileError("constants: invalid threshold");
  if (!(1 <= constants.target_length && constants.target_length < constants.limit && constants.limit <= kMaxLimit)) {
    throw CompileError("constants: expected a target length below the limit");
  }
}

// The raw sums of a PrefixCounts for some orders, of sets from `first_set` on.
template <class States>
struct RawOfOrders {
  const PrefixCounts<States>& counts;
  const Constants& constants;
  std::size_t first_set;
  std::size_t n = 0;

  void add(std::size_t i) noexcept { n = i + 1; }
  std::uint64_t operator[](std::size_t s) const noexcept {
    const std::size_t set = first_set + s;
    return counts.sum(n, constants.last_order, set) - counts.sum(n, constants.first_order - 1, set);
  }
};

}  // namespace

// One set of constants, with derived values.
struct VariantScorer::Variant {
  Constants constants;
  VariedLengths lengths;
  std::size_t look_ahead_number;  // among the look-aheads
  // The first variants that differ from this one in nothing that matters to the part.
  std::size_t same_fluency;
  std::size_t same_truthfulness;
  std::size_t same_helpfulness;

  // Without the baseline, of the sets from `first_set` on.
  template <std::size_t kSets, class States>
  std::array<double, kSets> fluency(const PrefixCounts<States>& counts, std::size_t first_set) const {
    const RawOfOrders<States> raw{counts, constants, first_set};
    return best_fluency<kSets>(lengths, counts.code_points().size(), raw);
  }

  // `counted` is memory to work in.
  template <class States>
  PerSet<double> truthfulness(const PrefixCounts<States>& counts, std::vector<std::uint8_t>& counted) const {
    const std::span<const char32_t> all = counts.code_points();
    const auto code_points = all.first(std::min(all.size(), constants.look_ahead() + 1));
    const double scale = 1.0 / constants.threshold;
    const SetGroup& group = counts.group();
    find_counted(lengths, code_points, true, counted);
    return best_truthfulness<kSetsPerIndex>(lengths, leaderboard_positions(lengths, code_points), counted,
                                            group.n_sets(), [&](std::size_t j, PerSet<double>& totals) {
                                              if (counted[j - 1] == 0) return;
                                              for (std::size_t s = 0; s < group.n_sets(); ++s) {
                                                totals[s] += support_of(static_cast<double>(counts.cover(j)[s]),
                                                                        group.n_answers(s), scale);
                                              }
                                            });
  }
};

// Scores the rows that one thread has taken.
class VariantScorer::Block {
 public:
  Block(const VariantScorer& scorer, std::span<const Answer> answers, double* out)
      : scorer_(scorer), answers_(answers), out_(out) {}

  // Returns the first row that is no text.
  InvalidRow score(std::span<const std::size_t> rows) {
    InvalidRow invalid;
    while (!rows.empty()) {
      const std::span<const std::size_t> of_question = take_same_question(answers_, rows);
      const std::uint32_t question = answers_[of_question.front()].question;
      const References& references = scorer_.questions_[question].index->references();
      references.groups().front().index().with_states([&](const auto& states) {
        using States = std::remove_cvref_t<decltype(states)>;
        std::vector<PrefixCounts<States>> counts(references.groups().begin(), references.groups().end());
        for (const std::size_t row : of_question) {
          const std::size_t byte = score_row(counts, references, row);
          if (byte != kNoError) invalid.keep_first({row, byte});
        }
      });
    }
    return invalid;
  }

 private:
  // Returns the first byte of invalid UTF-8, or kNoError.
  template <class States>
  std::size_t score_row(std::vector<PrefixCounts<States>>& counts, const References& references, std::size_t row) {
    const std::size_t invalid = decode(answers_[row].text, scorer_.look_aheads_.back() + 1, code_points_);
    if (invalid != kNoError) return invalid;
    const std::size_t n_sets = references.n_sets();
    scores_.resize(scorer_.variants_.size() * n_sets);
    for (std::size_t g = 0; g < counts.size(); ++g) {
      counts[g].read(code_points_);
      score_group(counts[g], g * kSetsPerIndex, n_sets);
    }
    score_helpfulness(row);
    store(row, n_sets);
    return kNoError;
  }

  template <class States>
  void score_group(const PrefixCounts<States>& counts, std::size_t first_set, std::size_t n_sets) {
    for (std::size_t v = 0; v < scorer_.variants_.size(); ++v) {
      const Variant& variant = scorer_.variants_[v];
      SetScore* const scores = &scores_[v * n_sets + first_set];
      const SetScore* const like_fluency = &scores_[variant.same_fluency * n_sets + first_set];
      const SetScore* const like_truthfulness = &scores_[variant.same_truthfulness * n_sets + first_set];
      PerSet<double> fluency{};
      PerSet<double> truthfulness{};
      if (variant.same_fluency == v) fluency = variant.fluency<kSetsPerIndex>(counts, 0);
      if (variant.same_truthfulness == v) truthfulness = variant.truthfulness(counts, counted_);
      for (std::size_t s = 0; s < counts.group().n_sets(); ++s) {
        scores[s] = {variant.same_fluency == v ? fluency[s] : like_fluency[s].fluency,
                     variant.same_truthfulness == v ? truthfulness[s] : like_truthfulness[s].truthfulness};
      }
    }
  }

  void score_helpfulness(std::size_t row) {
    const KeywordRules& rules = *scorer_.questions_[answers_[row].question].rules;
    helpfulness_.resize(scorer_.variants_.size());
    located_.resize(scorer_.look_aheads_.size());
    for (std::size_t l = 0; l < located_.size(); ++l) {
      const std::size_t n = std::min(code_points_.size(), scorer_.look_aheads_[l]);
      const std::span regexes(answers_[row].regex_positions + l * rules.n_regexes(), rules.n_regexes());
      rules.locate({code_points_.data(), n}, regexes, located_[l]);
    }
    for (std::size_t v = 0; v < helpfulness_.size(); ++v) {
      const Variant& variant = scorer_.variants_[v];
      helpfulness_[v] = variant.same_helpfulness == v ? leaderboard_helpfulness(variant.lengths, rules.importances(),
                                                                                located_[variant.look_ahead_number],
                                                                                code_points_.size(), truncations_)
                                                            .score
                                                      : helpfulness_[variant.same_helpfulness];
    }
  }

  void store(std::size_t row, std::size_t n_sets) {
    const std::uint32_t question = answers_[row].question;
    for (std::size_t v = 0; v < scorer_.variants_.size(); ++v) {
      rounded_.clear();
      for (std::size_t s = 0; s < n_sets; ++s) {
        const SetScore& score = scores_[v * n_sets + s];
        rounded_.add({score.fluency / scorer_.baseline(question, v, s), score.truthfulness}, n_sets);
      }
      const AnswerScore score =
          average(rounded_.fluency(), rounded_.truthfulness(), helpfulness_[v], FloatSum::kCompensated);
      double* out = out_ + v * kParts * answers_.size() + row;
      out[kFluency * answers_.size()] = score.fluency;
      out[kTruthfulness * answers_.size()] = score.truthfulness;
      out[kHelpfulness * answers_.size()] = score.helpfulness;
      out[kAverage * answers_.size()] = score.average;
    }
  }

  const VariantScorer& scorer_;
  std::span<const Answer> answers_;
  double* out_;
  std::vector<char32_t> code_points_;
  std::vector<SetScore> scores_;  // by variant, then set; fluency without the baseline
  std::vector<double> helpfulness_;
  std::vector<std::vector<RulePosition>> located_;  // by look-ahead
  std::vector<std::uint8_t> counted_;
  std::vector<double> truncations_;
  RoundedSets rounded_;
};

VariantScorer::VariantScorer(std::vector<Question> questions, std::span<const ReferenceSets> sets,
                             std::span<const Constants> variants, std::size_t n_threads)
    : questions_(std::move(questions)), baselines_(questions_.size()) {
  if (sets.size() != questions_.size()) throw CompileError("expected the sets of each question");
  for (const Constants& constants : variants) {
    check(constants);
    look_aheads_.push_back(constants.look_ahead());
  }
  if (variants.empty()) throw CompileError("expected at least one variant");
  std::ranges::sort(look_aheads_);
  look_aheads_.erase(std::unique(look_aheads_.begin(), look_aheads_.end()), look_aheads_.end());
  for (const Constants& constants : variants) add_variant(constants);
  run_parallel(questions_.size(), n_threads, {}, [&] {
    return [&](std::size_t question) { baselines_[question] = baselines_of(question, sets[question]); };
  });
}

VariantScorer::~VariantScorer() = default;

void VariantScorer::add_variant(const Constants& constants) {
  const auto look_ahead = std::ranges::lower_bound(look_aheads_, constants.look_ahead());
  Variant& variant = variants_.emplace_back(Variant{constants,
                                                    {constants.target_length, constants.limit},
                                                    static_cast<std::size_t>(look_ahead - look_aheads_.begin()),
                                                    0,
                                                    0,
                                                    0});
  const auto first = [&](auto is_same) {
    const auto found = std::ranges::find_if(variants_, [&](const Variant& other) {
      return other.constants.target_length == constants.target_length && other.constants.limit == constants.limit &&
             is_same(other.constants);
    });
    return static_cast<std::size_t>(found - variants_.begin());
  };
  variant.same_helpfulness = first([](const Constants&) { return true; });
  variant.same_truthfulness = first([&](const Constants& other) { return other.threshold == constants.threshold; });
  variant.same_fluency = first([&](const Constants& other) {
    return other.first_order == constants.first_order && other.last_order == constants.last_order;
  });
}

std::size_t VariantScorer::n_variants() const noexcept { return variants_.size(); }

std::vector<double> VariantScorer::baselines_of(std::size_t question, const ReferenceSets& sets) const {
  const References& references = questions_[question].index->references();
  if (references.profile() != Profile::kLeaderboard) throw CompileError("constants: expected profile leaderboard");
  const std::size_t n_sets = references.n_sets();
  if (sets.size() != n_sets || questions_[question].set_columns.size() != n_sets) throw CompileError("the sets differ");
  std::vector<double> baselines(variants_.size() * n_sets, 0.0);
  references.groups().front().index().with_states([&](const auto& states) {
    using States = std::remove_cvref_t<decltype(states)>;
    std::vector<char32_t> code_points;
    for (std::size_t set = 0; set < n_sets; ++set) {
      PrefixCounts<States> counts(references.groups()[set / kSetsPerIndex]);
      for (const TextView& answer : sets[set]) {
        if (decode(answer, look_aheads_.back(), code_points) != kNoError) throw CompileError("invalid UTF-8");
        counts.read(code_points);
        for (std::size_t v = 0; v < variants_.size(); ++v) {
          if (variants_[v].same_fluency != v) continue;
          baselines[v * n_sets + set] += variants_[v].fluency<1>(counts, set % kSetsPerIndex)[0];
        }
      }
      for (std::size_t v = 0; v < variants_.size(); ++v) {
        double& baseline = baselines[v * n_sets + set];
        const std::size_t same = variants_[v].same_fluency;
        baseline = same == v ? baseline / static_cast<double>(sets[set].size()) : baselines[same * n_sets + set];
      }
    }
  });
  return baselines;
}

void VariantScorer::score(std::span<const Answer> answers, std::size_t n_threads, double* out,
                          const std::function<void()>& on_pause) const {
  score_in_blocks(answers, questions_.size(), kAnswersAtATime, n_threads, on_pause,
                  [&] { return Block(*this, answers, out); });
}

}  // namespace pfgen
