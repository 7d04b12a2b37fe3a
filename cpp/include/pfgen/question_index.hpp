// The compiled reference sets of one question: built in memory, or a section of a file that is opened at its first use.
// Immutable and thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pfgen/constants.hpp"
#include "pfgen/section.hpp"
#include "pfgen/text.hpp"

namespace pfgen {

class References;

class QuestionIndex {
 public:
  explicit QuestionIndex(std::unique_ptr<const References> references);
  // `checksum` is the checksum of the section; `name` names the section in errors. `is_own`: this program wrote the
  // checksum, after it had checked the section.
  QuestionIndex(Section section, std::uint64_t checksum, std::string name, Profile profile, bool is_own = false);
  QuestionIndex(const QuestionIndex&) = delete;
  QuestionIndex& operator=(const QuestionIndex&) = delete;
  ~QuestionIndex();

  Profile profile() const noexcept { return profile_; }
  const Section& section() const noexcept { return section_; }

  // Opens the section and checks it completely at the first call, or only its checksum if it is our own. Several
  // threads may do so at once, and one result is kept: a lock would stay locked in a process that is forked meanwhile.
  // Throws IndexFormatError at every call if the section is damaged, like the functions below.
  const References& references() const;
  std::size_t n_states() const;
  std::vector<double> baselines() const;

 private:
  Profile profile_;
  Section section_;
  std::uint64_t checksum_ = 0;
  std::string name_;
  bool is_own_ = false;
  mutable std::atomic<const References*> opened_{nullptr};  // owned
};

// The answers of each set of a question.
using ReferenceSets = std::vector<std::vector<TextView>>;

// Indexes the reference sets of many questions, several at a time; `n_threads` does not change the result. Throws
// CompileError if a set is empty, holds invalid UTF-8, or has baseline 0. `lengths` are those of each question; there
// are none if all are usual.
std::vector<std::shared_ptr<const QuestionIndex>> compile(std::span<const ReferenceSets> questions, Profile profile,
                                                          std::size_t n_threads, std::span<const Lengths> lengths = {});

}  // namespace pfgen
