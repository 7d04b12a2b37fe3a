// Compiled suites for tests and fuzz targets: makes the bytes of a file, corrects checksums after a change, and scores.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <span>

#include "index/checksum.hpp"
#include "index/references.hpp"
#include "makers/texts.hpp"
#include "pfgen/batch_scorer.hpp"
#include "pfgen/error.hpp"
#include "pfgen/index_file.hpp"

namespace pfgen::test {

using Bytes = std::vector<std::byte>;

// An aligned copy of exactly these bytes, so that a sanitizer detects reads outside.
inline Section aligned_copy(std::span<const std::byte> bytes) {
  constexpr std::align_val_t kAlignment{Section::kAlignment};
  auto* copy = static_cast<std::byte*>(::operator new(bytes.size(), kAlignment));
  std::ranges::copy(bytes, copy);
  return {{copy, bytes.size()}, std::shared_ptr<void>(copy, [](void* p) { ::operator delete(p, kAlignment); })};
}

inline IndexFile open(std::span<const std::byte> bytes, bool is_own = false) {
  return IndexFile(aligned_copy(bytes), is_own);
}

// A file as write_index() of the Python package writes it.
inline Bytes file_of(const FileHead& head, std::span<const Section> sections) {
  Bytes file = make_head(head, sections);
  for (const Section& section : sections) file.insert(file.end(), section.bytes.begin(), section.bytes.end());
  return file;
}

// One with a question for each of `questions`.
inline Bytes file_of(Profile profile, std::span<const Sets> questions, const Lengths& lengths = {}) {
  std::vector<Section> sections;
  for (const Sets& sets : questions) sections.push_back(References(views(sets), profile, lengths).section());
  return file_of({profile, std::string(40, 'a'), "details"}, sections);
}

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

template <class Number>
void put(std::span<std::byte> bytes, std::size_t offset, Number number) {
  std::memcpy(bytes.data() + offset, &number, sizeof number);
}

// Offsets of docs/index_format.md.
struct FileLayout {
  static constexpr std::size_t kFileBytes = 16;  // 8 bytes: how long the file is
  static constexpr std::size_t kHeadBytes = 24;  // 8 bytes: how long the head is
  static constexpr std::size_t kQuestions = 32;  // 4 bytes: how many
  static constexpr std::size_t kDirectory = 88;  // of each question: offset, size and checksum of its section
  static constexpr std::size_t kEntryBytes = 24;
};

// The section of a question, as the directory has it.
inline std::span<std::byte> section_of(std::span<std::byte> file, std::size_t question) {
  const std::size_t entry = FileLayout::kDirectory + question * FileLayout::kEntryBytes;
  return file.subspan(number_at<std::uint64_t>(file, entry), number_at<std::uint64_t>(file, entry + 8));
}

// Corrects all checksums, at any places that the head and the directory name within the file.
inline void seal(std::span<std::byte> file) {
  if (file.size() < FileLayout::kDirectory) return;
  const auto n_questions = number_at<std::uint32_t>(file, FileLayout::kQuestions);
  for (std::size_t q = 0; q < n_questions; ++q) {
    const std::size_t entry = FileLayout::kDirectory + q * FileLayout::kEntryBytes;
    if (file.size() < entry + FileLayout::kEntryBytes) break;
    const auto offset = number_at<std::uint64_t>(file, entry);
    const auto n_bytes = number_at<std::uint64_t>(file, entry + 8);
    if (offset > file.size() || n_bytes > file.size() - offset) continue;
    put(file, entry + 16, checksum(file.subspan(offset, n_bytes)));
  }
  const auto n_head_bytes = number_at<std::uint64_t>(file, FileLayout::kHeadBytes);
  if (n_head_bytes < 8 || n_head_bytes > file.size()) return;
  put(file, n_head_bytes - 8, checksum(file.first(n_head_bytes - 8)));
}

using Indexes = std::vector<std::shared_ptr<const QuestionIndex>>;

// A question without rules, whose sets are the first columns.
inline Question plain_question(std::shared_ptr<const QuestionIndex> index) {
  std::vector<std::size_t> columns(index->references().n_sets());
  std::iota(columns.begin(), columns.end(), 0U);
  const Lengths lengths = index->references().lengths();
  return {std::move(index), std::make_shared<const KeywordRules>(std::vector<RuleNode>{}), columns, false, lengths};
}

inline std::vector<Answer> answers_of(std::span<const Text> texts) {
  std::vector<Answer> answers;
  for (const Text& text : texts) answers.push_back({view(text), 0, nullptr});
  return answers;
}

// The four columns and the columns of the sets, question by question; throws as the core does.
inline std::vector<double> scores(const Indexes& questions, std::span<const Text> texts, std::size_t n_threads = 1) {
  std::vector<double> all;
  for (const auto& question : questions) {
    const std::size_t n_sets = question->references().n_sets(), n = texts.size(), first = all.size();
    all.resize(first + (4 + 2 * n_sets) * n);
    double* begin = all.data() + first;
    BatchScorer({plain_question(question)}, FloatSum::kCompensated)
        .score(answers_of(texts), n_threads,
               {begin, begin + n, begin + 2 * n, begin + 3 * n, begin + 4 * n, begin + (4 + n_sets) * n});
  }
  return all;
}

}  // namespace pfgen::test
