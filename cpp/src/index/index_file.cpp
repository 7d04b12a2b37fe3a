#include "pfgen/index_file.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "index/checksum.hpp"
#include "pfgen/error.hpp"

namespace pfgen {
namespace {

constexpr std::array<char, 8> kMagic{'P', 'F', 'G', 'E', 'N', 'I', 'D', 'X'};
constexpr std::uint32_t kByteOrder = 0x01020304;

struct FixedHead {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint64_t n_file_bytes;
  std::uint64_t n_head_bytes;  // with the directory, the details, padding and the checksum at its end
  std::uint32_t n_questions;
  std::uint32_t profile;
  std::uint64_t n_detail_bytes;
  std::array<char, 40> metadata_hash;
};
static_assert(sizeof(FixedHead) == 88);

struct DirectoryEntry {
  std::uint64_t offset;
  std::uint64_t n_bytes;
  std::uint64_t checksum;
};

constexpr std::uint64_t kChecksumBytes = sizeof(std::uint64_t);

void require(bool holds, const std::string& what) {
  if (!holds) throw IndexFormatError(what);
}

template <class T>
T read(std::span<const std::byte> bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

FixedHead read_head(std::span<const std::byte> bytes) {
  require(bytes.size() >= sizeof(FixedHead) + kChecksumBytes, "the file ends within its header");
  const auto head = read<FixedHead>(bytes, 0);
  require(head.magic == kMagic, "the file is not a compiled suite");
  require(head.byte_order == kByteOrder, "the file was written by a machine with another byte order");
  require(head.version == kIndexVersion,
          "the file has format version " + std::to_string(head.version) + ", not " + std::to_string(kIndexVersion));
  require(head.n_file_bytes == bytes.size(), "the file has " + std::to_string(bytes.size()) + " bytes, not the " +
                                                 std::to_string(head.n_file_bytes) + " that its header says");
  require(head.n_head_bytes <= bytes.size() && head.n_head_bytes % Section::kAlignment == 0, "the header is too long");
  require(head.n_head_bytes >= sizeof(FixedHead) + kChecksumBytes, "the header is too short");
  const std::uint64_t room = head.n_head_bytes - sizeof(FixedHead) - kChecksumBytes;
  require(head.n_questions <= room / sizeof(DirectoryEntry) &&
              head.n_detail_bytes <= room - head.n_questions * sizeof(DirectoryEntry),
          "the header is too short for its content");
  const std::uint64_t n_checked = head.n_head_bytes - kChecksumBytes;
  require(checksum(bytes.first(n_checked)) == read<std::uint64_t>(bytes, n_checked), "the header is damaged");
  require(head.profile <= static_cast<std::uint32_t>(Profile::kNormalised), "the header names an unknown profile");
  return head;
}

}  // namespace

std::vector<std::byte> make_head(const FileHead& head, std::span<const Section> sections) {
  const std::uint64_t directory = sizeof(FixedHead);
  const std::uint64_t details = directory + sections.size() * sizeof(DirectoryEntry);
  const std::uint64_t n_head_bytes = Section::align(details + head.details.size() + kChecksumBytes);
  std::vector<DirectoryEntry> entries;
  std::uint64_t offset = n_head_bytes;
  for (const Section& section : sections) {
    entries.push_back({offset, section.bytes.size(), checksum(section.bytes)});
    offset += Section::align(section.bytes.size());
  }
  FixedHead fixed{kMagic,
                  kIndexVersion,
                  kByteOrder,
                  offset,
                  n_head_bytes,
                  static_cast<std::uint32_t>(sections.size()),
                  static_cast<std::uint32_t>(head.profile),
                  head.details.size(),
                  {}};
  if (head.metadata_hash.size() != fixed.metadata_hash.size()) throw CompileError("a metadata hash has 40 digits");
  std::memcpy(fixed.metadata_hash.data(), head.metadata_hash.data(), fixed.metadata_hash.size());
  std::vector<std::byte> bytes(n_head_bytes);
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  if (!entries.empty()) std::memcpy(bytes.data() + directory, entries.data(), entries.size() * sizeof(DirectoryEntry));
  if (!head.details.empty()) std::memcpy(bytes.data() + details, head.details.data(), head.details.size());
  const std::uint64_t sum = checksum(std::span(bytes).first(n_head_bytes - kChecksumBytes));
  std::memcpy(bytes.data() + n_head_bytes - kChecksumBytes, &sum, kChecksumBytes);
  return bytes;
}

IndexFile::IndexFile(const Section& bytes, bool is_own) {
  const FixedHead head = read_head(bytes.bytes);
  const std::uint64_t details = sizeof(FixedHead) + head.n_questions * sizeof(DirectoryEntry);
  head_.profile = static_cast<Profile>(head.profile);
  head_.metadata_hash.assign(head.metadata_hash.data(), head.metadata_hash.size());
  head_.details.assign(reinterpret_cast<const char*>(bytes.bytes.data() + details), head.n_detail_bytes);
  for (std::uint32_t question = 0; question < head.n_questions; ++question) {
    const auto entry = read<DirectoryEntry>(bytes.bytes, sizeof(FixedHead) + question * sizeof(DirectoryEntry));
    const std::string name = "the section of question " + std::to_string(question + 1);
    require(entry.offset % Section::kAlignment == 0 && entry.offset <= bytes.bytes.size() &&
                entry.n_bytes <= bytes.bytes.size() - entry.offset,
            name + " is outside the file");
    questions_.push_back(
        std::make_shared<const QuestionIndex>(Section{bytes.bytes.subspan(entry.offset, entry.n_bytes), bytes.owner},
                                              entry.checksum, name, head_.profile, is_own));
  }
}

}  // namespace pfgen
