// A compiled suite in one file: the sections of all its questions, made to be mapped into memory.
//
// docs/index_format.md describes the bytes. The core makes and reads bytes; it opens and writes no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pfgen/constants.hpp"
#include "pfgen/question_index.hpp"
#include "pfgen/section.hpp"

namespace pfgen {

inline constexpr std::uint32_t kIndexVersion = 3;

// The metadata of a file.
struct FileHead {
  Profile profile;
  std::string metadata_hash;  // of the suite: 40 hexadecimal digits
  std::string details;        // free data of the caller
};

// The bytes that come before the sections. The file is these, then each section, each followed by zeros up to a
// multiple of Section::kAlignment (which the sizes of both are already).
std::vector<std::byte> make_head(const FileHead& head, std::span<const Section> sections);

class IndexFile {
 public:
  // Checks the head and the bounds of the sections; each section is checked when it is first used. Throws
  // IndexFormatError. `bytes` begin at a multiple of 8; at a multiple of Section::kAlignment, states do not cross cache
  // lines. `is_own`: this program wrote the bytes, and nobody else could; see QuestionIndex.
  explicit IndexFile(const Section& bytes, bool is_own = false);

  const FileHead& head() const noexcept { return head_; }
  // In the order of the file.
  const std::vector<std::shared_ptr<const QuestionIndex>>& questions() const noexcept { return questions_; }

 private:
  FileHead head_;
  std::vector<std::shared_ptr<const QuestionIndex>> questions_;
};

}  // namespace pfgen
