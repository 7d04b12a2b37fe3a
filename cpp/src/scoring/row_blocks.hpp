// A batch in blocks of rows, each of which one thread scores. Every result is written to its own row, so blocks and
// threads cannot change it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "pfgen/batch_scorer.hpp"
#include "pfgen/error.hpp"
#include "system/parallel.hpp"

namespace pfgen {

// A row that is no text, and the byte that shows it.
struct InvalidRow {
  std::size_t row = kNoError;
  std::size_t byte = 0;

  // Keeps the one with the lower number.
  void keep_first(const InvalidRow& other) noexcept {
    if (other.row < row) *this = other;
  }
};

// Rows question by question, so that a thread finds one index in its cache; each in its old order.
class RowsByQuestion {
 public:
  RowsByQuestion(std::span<const Answer> answers, std::size_t n_questions) : rows_(answers.size()) {
    if (answers.size() == 1) return;
    begin_.resize(n_questions + 1);
    for (const Answer& answer : answers) ++begin_[answer.question + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<std::size_t> next(begin_);
    for (std::size_t row = 0; row < answers.size(); ++row) rows_[next[answers[row].question]++] = row;
  }

  std::span<const std::size_t> rows() const noexcept { return rows_; }
  std::size_t n_answers(std::uint32_t question) const noexcept {
    return begin_.empty() ? 1 : begin_[question + 1] - begin_[question];
  }

 private:
  std::vector<std::size_t> rows_, begin_;
};

// Takes the first rows that are answers to one question from the front of `rows`.
inline std::span<const std::size_t> take_same_question(std::span<const Answer> answers,
                                                       std::span<const std::size_t>& rows) {
  const std::uint32_t question = answers[rows.front()].question;
  const auto other = std::ranges::find_if(rows, [&](std::size_t row) { return answers[row].question != question; });
  const std::span<const std::size_t> taken(rows.begin(), other);
  rows = {other, rows.end()};
  return taken;
}

// Scores all answers. `make_block(rows)` is called for each thread and returns an object that scores the rows of a
// block: `score(rows)` returns the first row with an invalid text. Throws InvalidAnswer for the first of all invalid
// rows.
template <class MakeBlock>
void score_in_blocks(std::span<const Answer> answers, std::size_t n_questions, std::size_t n_in_block,
                     std::size_t n_threads, const std::function<void()>& on_pause, const MakeBlock& make_block) {
  const RowsByQuestion by_question(answers, n_questions);
  const std::span<const std::size_t> rows = by_question.rows();
  InvalidRow first;
  Mutex first_mutex;
  run_parallel((answers.size() + n_in_block - 1) / n_in_block, n_threads, on_pause, [&] {
    return [&, block = make_block(by_question)](std::size_t i) mutable {
      const std::size_t n_rows = std::min(n_in_block, rows.size() - i * n_in_block);
      const InvalidRow invalid = block.score(rows.subspan(i * n_in_block, n_rows));
      if (invalid.row == kNoError) return;
      const std::lock_guard lock(first_mutex);
      first.keep_first(invalid);
    };
  });
  if (first.row != kNoError) throw InvalidAnswer(first.row, first.byte);
}

}  // namespace pfgen
