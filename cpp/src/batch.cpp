#include "pfgen/batch.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <thread>

#include "pfgen/error.hpp"

namespace pfgen {
namespace {

// Answers that a thread takes at a time: enough to stay with one question, few enough to share evenly. One block
// is also what it takes to make up for starting a thread.
constexpr std::size_t kBlock = 128;

// Runs `work(task)` for every task below `n_tasks`; each of `n_threads` threads has a worker from `make_worker`.
// The first exception of any is thrown here, after all have ended.
template <class MakeWorker>
void run_parallel(std::size_t n_tasks, std::size_t n_threads, const MakeWorker& make_worker) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto run = [&] {
    try {
      auto worker = make_worker();
      for (std::size_t task = next++; task < n_tasks; task = next++) worker(task);
    } catch (...) {
      const std::scoped_lock lock(error_mutex);
      if (!error) error = std::current_exception();
      next = n_tasks;
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(n_threads, n_tasks); ++i) {
    try {
      threads.emplace_back(run);
    } catch (const std::system_error&) {
      break;  // The system gives no more threads: those that run do all the work.
    }
  }
  run();
  threads.clear();
  if (error) std::rethrow_exception(error);
}

// Rows question by question, so that a thread finds one index in its cache; each in its old order.
std::vector<std::size_t> rows_by_question(std::span<const Answer> answers, std::size_t n_questions) {
  std::vector<std::size_t> begin(n_questions + 1);
  for (const Answer& answer : answers) ++begin[answer.question + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::size_t> rows(answers.size());
  for (std::size_t row = 0; row < answers.size(); ++row) rows[begin[answers[row].question]++] = row;
  return rows;
}

std::span<const std::uint32_t> regex_positions(const Answer& answer, const Question& question) {
  return {answer.regex_positions, question.rules->n_regexes()};
}

}  // namespace

BatchScorer::BatchScorer(std::vector<Question> questions, FloatSum float_sum)
    : questions_(std::move(questions)), float_sum_(float_sum) {}

void BatchScorer::score(std::span<const Answer> answers, std::size_t n_threads, const Columns& columns) const {
  const std::size_t n_blocks = (answers.size() + kBlock - 1) / kBlock;
  if (n_blocks <= 1) n_threads = 1;
  const std::vector<std::size_t> rows = rows_by_question(answers, questions_.size());
  Failure failure;
  std::mutex failure_mutex;
  run_parallel(n_blocks, n_threads, [&] {
    return [&, work = Workspace()](std::size_t block) mutable {
      Failure found;
      const std::size_t end = std::min(rows.size(), (block + 1) * kBlock);
      for (std::size_t i = block * kBlock; i < end; ++i) score_row(answers, rows[i], columns, work, found);
      if (found.row == kNoError) return;
      const std::scoped_lock lock(failure_mutex);
      if (found.row < failure.row) failure = found;
    };
  });
  if (failure.row != kNoError) throw InvalidAnswer(failure.row, failure.byte);
}

void BatchScorer::score_row(std::span<const Answer> answers, std::size_t row, const Columns& columns, Workspace& work,
                            Failure& failure) const {
  const Answer& answer = answers[row];
  if (answer.text.is_null) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    columns.fluency[row] = columns.truthfulness[row] = columns.helpfulness[row] = columns.average[row] = kNaN;
    return;
  }
  const std::size_t invalid = decode(answer.text, look_ahead(profile()), work.code_points);
  if (invalid != kNoError) {
    if (row < failure.row) failure = {row, invalid};
    return;
  }
  const Question& question = questions_[answer.question];
  score_sets(*question.references, work);
  const auto helpfulness = score_helpfulness(profile(), *question.rules, regex_positions(answer, question), work);

  const std::size_t n_sets = work.sets.size();
  const auto n_sets_divisor = static_cast<double>(n_sets);
  work.set_fluency.resize(n_sets);
  work.set_truthfulness.resize(n_sets);
  for (std::size_t s = 0; s < n_sets; ++s) {
    work.set_fluency[s] = round_decimal(work.sets[s].fluency / n_sets_divisor, 6);
    work.set_truthfulness[s] = round_decimal(work.sets[s].truthfulness / n_sets_divisor, 6);
    if (columns.set_fluency == nullptr) continue;
    const std::size_t element = question.set_columns[s] * answers.size() + row;
    columns.set_fluency[element] = work.set_fluency[s];
    columns.set_truthfulness[element] = work.set_truthfulness[s];
  }
  columns.fluency[row] = sum(work.set_fluency, float_sum_);
  columns.truthfulness[row] = sum(work.set_truthfulness, float_sum_);
  columns.helpfulness[row] = round_decimal(helpfulness.score, 5);
  columns.average[row] =
      round_decimal((columns.fluency[row] + columns.truthfulness[row] + columns.helpfulness[row]) / 3.0, 5);
}

HelpfulnessDetails BatchScorer::details(const Answer& answer) const {
  Workspace work;
  const std::size_t invalid = decode(answer.text, look_ahead(profile()), work.code_points);
  if (invalid != kNoError) throw InvalidAnswer(0, invalid);
  const Question& question = questions_[answer.question];
  const auto helpfulness = score_helpfulness(profile(), *question.rules, regex_positions(answer, question), work);
  return {helpfulness.truncation, helpfulness.score, work.rules};
}

std::vector<std::shared_ptr<const References>> compile(std::span<const ReferenceSets> questions, Profile profile,
                                                       std::size_t n_threads) {
  std::vector<std::shared_ptr<const References>> compiled(questions.size());
  run_parallel(questions.size(), n_threads, [&] {
    return [&](std::size_t i) { compiled[i] = std::make_shared<const References>(questions[i], profile); };
  });
  return compiled;
}

}  // namespace pfgen
