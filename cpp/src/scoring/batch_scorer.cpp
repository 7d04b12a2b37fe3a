#include "pfgen/batch_scorer.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "formulas/averaging.hpp"
#include "formulas/helpfulness.hpp"
#include "index/references.hpp"
#include "pfgen/constants.hpp"
#include "pfgen/error.hpp"
#include "pfgen/normalised_text.hpp"
#include "scoring/row_blocks.hpp"
#include "scoring/set_scores.hpp"
#include "system/prefetch.hpp"

namespace pfgen {
namespace {

// Answers that a thread takes at a time: enough to stay with one question, few enough to share evenly. A thread is
// started only if there is at least one block for it.
constexpr std::size_t kBlock = 128;
// Texts are anywhere in memory: each text is prefetched while this number of other texts is scored.
constexpr std::size_t kReadAhead = 4;

// Of a question with so many answers, the whole index is read once in order before the first, which is faster than line
// by line where the walks need them.
constexpr std::size_t kManyAnswers = 1000;

// Prefetches the part of an answer that scoring reads.
void prefetch_text(const TextView& text) {
  constexpr std::size_t kUsual = Lengths().look_ahead();  // more is read in order
  const std::size_t most = kUsual * (text.encoding == Encoding::kUtf8 ? 3 : unit_size(text.encoding));
  const std::size_t n_bytes = std::min(text.n_units * unit_size(text.encoding), most);
  for (std::size_t at = 0; at < n_bytes; at += 64) prefetch(static_cast<const std::byte*>(text.data) + at);
}

// Reads answers up to the length that a profile reads, and scores their helpfulness.
class Reader {
 public:
  // Replaces `units` with those of the answer. Returns kNoError, or the byte offset of invalid UTF-8.
  std::size_t read(const TextView& text, const Question& question, std::vector<char32_t>& units) {
    const Profile profile = question.index->profile();
    const std::size_t n_read = question.look_ahead() + 1;  // truthfulness reads one more
    answer_ = profile != Profile::kNormalised || question.is_spelled ? nullptr
              : question.spelling == nullptr                         ? &normalised_
                                                                     : &normalised_words_;
    if (question.spelling != nullptr) {
      const std::size_t invalid = answer_ == nullptr
                                      ? question.spelling->spell(text, n_read, code_points_, spelled_)
                                      : question.spelling->spell(text, n_read, normalised_words_, spelled_);
      units.assign(spelled_.symbols.begin(), spelled_.symbols.end());
      return invalid;
    }
    if (answer_ == nullptr) return decode(text, n_read, units);
    const std::size_t invalid = normalised_.read(text, n_read - 1);
    const std::span<const char32_t> all = normalised_.units();
    units.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), n_read)));
    return invalid;
  }

  // Of the answer that was read last, which has these units.
  Helpfulness helpfulness(const Question& question, std::span<const char32_t> units,
                          const std::uint32_t* regex_positions) {
    const Profile profile = question.index->profile();
    const std::size_t n_regexes = question.rules->n_regexes();
    const bool is_spelled = question.spelling != nullptr;
    const std::size_t look_ahead = question.look_ahead();
    const std::size_t n = std::min(units.size(), look_ahead);
    if (profile == Profile::kNormalised) {
      return scorer_.score(question.lengths, *question.rules, n, answer_, is_spelled ? &spelled_ : nullptr,
                           {regex_positions, kTextForms * n_regexes});
    }
    const SearchedText searched =
        is_spelled ? SearchedText{{code_points_.data(), spelled_.n_read(code_points_.size(), look_ahead)}, &spelled_}
                   : SearchedText{{units.data(), n}};
    return scorer_.score(profile, question.lengths, *question.rules, n, searched, {regex_positions, n_regexes});
  }

  const std::vector<RulePosition>& rule_positions() const noexcept { return scorer_.rule_positions(); }

 private:
  HelpfulnessScorer scorer_;
  NormalisedText normalised_;
  NormalisedText normalised_words_{Gaps::kSpaces};
  const NormalisedText* answer_ = nullptr;  // the answer in profile normalised, unless the caller spells tokens
  std::vector<char32_t> code_points_;       // the beginning of an answer in words
  SpelledText spelled_;
};

// Kept by each thread from batch to batch, because for one answer alone it would take as long to make as to use.
struct ThreadMemory {
  Workspaces work;
  Reader reader;
  RoundedSets rounded;
};

void store(const AnswerScore& score, std::size_t row, const ScoreColumns& columns) {
  columns.fluency[row] = score.fluency;
  columns.truthfulness[row] = score.truthfulness;
  columns.helpfulness[row] = score.helpfulness;
  columns.average[row] = score.average;
}

ThreadMemory& thread_memory() {
  thread_local ThreadMemory memory;
  return memory;
}

}  // namespace

// Scores the rows that one thread has taken.
class BatchScorer::Block : private AnswerSource {
 public:
  Block(const BatchScorer& scorer, std::span<const Answer> answers, const RowsByQuestion& by_question,
        const ScoreColumns& columns)
      : scorer_(scorer), answers_(answers), by_question_(by_question), columns_(columns) {}

  // Returns the first row that is no text.
  InvalidRow score(std::span<const std::size_t> rows) {
    invalid_ = {};
    while (!rows.empty()) {
      rest_ = take_same_question(answers_, rows);
      question_ = &scorer_.questions_[answers_[rest_.front()].question];
      const References& references = question_->index->references();
      if (references.n_sets() != question_->set_columns.size()) {
        throw IndexFormatError("the index of a question has " + std::to_string(references.n_sets()) + " sets, not " +
                               std::to_string(question_->set_columns.size()));
      }
      if (references.lengths() != question_->lengths)
        throw IndexFormatError("the index of a question has other lengths");
      if (question_ != fetched_ && by_question_.n_answers(answers_[rest_.front()].question) >= kManyAnswers) {
        fetched_ = question_;
        fetch(references.section().bytes);
      }
      score_sets(references, rest_.size(), *this, memory_.work);
    }
    return invalid_;
  }

 private:
  bool next(AnswerLane& lane) override {
    while (!rest_.empty()) {
      const std::size_t row = rest_.front();
      rest_ = rest_.subspan(1);
      if (rest_.size() > kReadAhead) prefetch_text(answers_[rest_[kReadAhead]].text);
      if (take(row, lane)) return true;
    }
    return false;
  }

  // Reads the text of a row; false where there is nothing to score.
  bool take(std::size_t row, AnswerLane& lane) {
    const TextView& text = answers_[row].text;
    if (text.is_null) {
      constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
      columns_.fluency[row] = columns_.truthfulness[row] = columns_.helpfulness[row] = columns_.average[row] = kNaN;
      return false;
    }
    const std::size_t invalid = memory_.reader.read(text, *question_, lane.code_points);
    if (invalid != kNoError) {
      invalid_.keep_first({row, invalid});
      return false;
    }
    rows_[lane.number] = row;
    helpfulness_[lane.number] =
        memory_.reader.helpfulness(*question_, lane.code_points, answers_[row].regex_positions).score;
    return true;
  }

  void done(const AnswerLane& lane) override {
    const Question& question = *question_;
    const std::size_t row = rows_[lane.number];
    memory_.rounded.clear();
    for (const SetScore& set : lane.sets) memory_.rounded.add(set, lane.sets.size());
    if (columns_.set_fluency != nullptr) store_sets(question, row);
    store(average(memory_.rounded.fluency(), memory_.rounded.truthfulness(), helpfulness_[lane.number],
                  scorer_.float_sum_),
          row, columns_);
  }

  void store_sets(const Question& question, std::size_t row) {
    for (std::size_t s = 0; s < question.set_columns.size(); ++s) {
      const std::size_t element = question.set_columns[s] * answers_.size() + row;
      columns_.set_fluency[element] = memory_.rounded.fluency()[s];
      columns_.set_truthfulness[element] = memory_.rounded.truthfulness()[s];
    }
  }

  const BatchScorer& scorer_;
  std::span<const Answer> answers_;
  const RowsByQuestion& by_question_;
  const ScoreColumns& columns_;
  ThreadMemory& memory_ = thread_memory();
  const Question* question_ = nullptr;
  std::span<const std::size_t> rest_;       // rows of the question that are not taken yet
  std::array<std::size_t, kLanes> rows_{};  // of the answer in each lane
  std::array<double, kLanes> helpfulness_;
  InvalidRow invalid_;
  const Question* fetched_ = nullptr;  // whose index has been read in order
};

BatchScorer::BatchScorer(std::vector<Question> questions, FloatSum float_sum)
    : questions_(std::move(questions)), float_sum_(float_sum) {
  if (questions_.empty()) throw CompileError("a suite without questions");
}

void BatchScorer::score(std::span<const Answer> answers, std::size_t n_threads, const ScoreColumns& columns,
                        const std::function<void()>& on_pause) const {
  score_in_blocks(answers, questions_.size(), kBlock, n_threads, on_pause,
                  [&](const RowsByQuestion& rows) { return Block(*this, answers, rows, columns); });
}

void BatchScorer::add_up(std::span<const std::int32_t> questions, const ScoreColumns& columns) const {
  std::vector<double> fluency;
  std::vector<double> truthfulness;
  for (std::size_t row = 0; row < questions.size(); ++row) {
    fluency.clear();
    truthfulness.clear();
    for (const std::size_t column : questions_[static_cast<std::size_t>(questions[row])].set_columns) {
      fluency.push_back(columns.set_fluency[column * questions.size() + row]);
      truthfulness.push_back(columns.set_truthfulness[column * questions.size() + row]);
    }
    store(average(fluency, truthfulness, columns.helpfulness[row], float_sum_), row, columns);
  }
}

HelpfulnessDetails BatchScorer::details(const Answer& answer) const {
  std::vector<char32_t> code_points;
  const Question& question = questions_[answer.question];
  Reader reader;
  const std::size_t invalid = reader.read(answer.text, question, code_points);
  if (invalid != kNoError) throw InvalidAnswer(0, invalid);
  const Helpfulness helpfulness = reader.helpfulness(question, code_points, answer.regex_positions);
  return {helpfulness.truncation, helpfulness.score, reader.rule_positions()};
}

}  // namespace pfgen
