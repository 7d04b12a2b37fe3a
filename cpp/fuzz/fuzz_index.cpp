// Reads bytes as changes of compiled suites, mostly with corrected checksums, as an attacker would. A file that opens
// must score answers without reading out of bounds.
#include <cstring>

#include "makers/check.hpp"
#include "makers/index_bytes.hpp"
#include "makers/rules.hpp"
#include "target.hpp"

namespace pfgen::test {

// A file with its questions, and answers to score with it.
struct Whole {
  std::vector<Sets> questions;
  Bytes file;
  std::vector<Text> answers;
};

const std::vector<Whole>& wholes() {
  static const std::vector<Whole> all = [] {
    Random random(61);
    // Of one set, of several, of several indexes; and sums of frequencies beyond 16 bits or other lengths, which take
    // the wide form.
    const std::vector<Text> frequent(CompactStates::kMaxCount / 10 + 1, U"かきくけこあいうえお");
    const std::vector<std::vector<Sets>> files{{{{U"あい", U"いう"}}, random_sets(random, 2, false)},
                                               {random_sets(random, 9, false)},
                                               {{frequent, {U"あいう"}}},
                                               {random_sets(random, 5, false)}};
    std::vector<Whole> wholes;
    for (const Profile profile : {Profile::kLeaderboard, Profile::kPaper, Profile::kNormalised}) {
      for (const std::vector<Sets>& questions : files) {
        const Lengths lengths = &questions == &files.back() ? Lengths{30, 200} : Lengths();
        Whole& whole = wholes.emplace_back(Whole{questions, file_of(profile, questions, lengths), {}});
        for (const std::size_t length : {0U, 1U, 3U, 40U, 99U, 150U, 200U, 260U}) {
          whole.answers.push_back(random_answer(random, questions[0][0], length));
        }
        whole.answers.push_back(U"^\x10FFFF\xFFFFあ$");
      }
    }
    return wholes;
  }();
  return all;
}

// How a number of a file is changed, as the input has it.
struct Change {
  std::uint32_t place;
  std::uint32_t number;
  std::uint8_t how;
  std::uint8_t where;
};
constexpr std::size_t kChangeBytes = 10;
constexpr std::size_t kFirstWords = 64;  // the header of an index, its sets and the beginning of its alphabet

Change read_change(std::span<const std::uint8_t> bytes) {
  Change change{};
  std::memcpy(&change, bytes.data(), kChangeBytes);
  return change;
}

// Most changes are in a section, where it is in the whole file; the others anywhere, or of the size.
void forge(const Change& change, const Whole& whole, Bytes& file) {
  if (change.where >= 250) {
    file.resize(change.number % (whole.file.size() + 64));
    return;
  }
  std::span<std::byte> area(file);
  if (file.size() == whole.file.size() && change.where < 200) {
    Bytes copy = whole.file;
    const std::span<std::byte> section = section_of(copy, change.where % whole.questions.size());
    area = area.subspan(static_cast<std::size_t>(section.data() - copy.data()), section.size());
  }
  const std::size_t n_words = area.size() / 4;
  if (n_words == 0) return;
  const bool is_at_front = change.how >= 0x80;
  const std::size_t at = 4 * (change.place % (is_at_front ? std::min(kFirstWords, n_words) : n_words));
  const auto word = number_at<std::uint32_t>(area, at);
  switch (change.how % 5) {
    case 0:
      put(area, at, change.number);
      break;
    case 1:
      put(area, at, word + change.number % 9 - 4);
      break;
    case 2:
      put(area, at, word ^ std::uint32_t{1} << change.number % 32);
      break;
    case 3:
      put(area, at, number_at<std::uint32_t>(area, 4 * (change.number % n_words)));
      break;
    default:
      area[at + change.place % 4] = static_cast<std::byte>(change.number);
  }
}

// Whether a question opens. Its section is copied, so that a sanitizer sees reads before and behind it.
bool use(const Whole& whole, std::size_t question, const IndexFile& file, std::span<const std::byte> bytes) {
  const QuestionIndex& opened = *file.questions()[question];
  const std::size_t entry = FileLayout::kDirectory + question * FileLayout::kEntryBytes;
  const auto index = std::make_shared<const QuestionIndex>(aligned_copy(opened.section().bytes),
                                                           number_at<std::uint64_t>(bytes, entry + 16), "the section",
                                                           opened.profile());
  const auto is_refused = [&] { return throws<IndexFormatError>([&] { index->references(); }); };
  const bool was_refused = is_refused();
  fuzz::require(is_refused() == was_refused, "a question is refused each time or never");
  if (was_refused) return false;
  const std::span answers(whole.answers);
  scores({index}, answers);
  scores({index}, answers.subspan(3, 2));  // few go another way
  return true;
}

// Whether any question opens.
bool use(const Whole& whole, std::span<const std::byte> bytes) {
  bool is_inside = false;
  try {
    const IndexFile file = open(bytes);
    for (std::size_t q = 0; q < file.questions().size(); ++q) is_inside = use(whole, q, file, bytes) || is_inside;
  } catch (const IndexFormatError&) {
  }
  return is_inside;
}

}  // namespace pfgen::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes) {
  using namespace pfgen::test;
  if (n_bytes == 0) return 0;
  const Whole& whole = wholes()[data[0] % wholes().size()];
  const bool is_sealed = data[0] < 0xE0;
  Bytes file = whole.file;
  std::span<const std::uint8_t> rest(data + 1, n_bytes - 1);
  for (; rest.size() >= kChangeBytes; rest = rest.subspan(kChangeBytes)) forge(read_change(rest), whole, file);
  if (is_sealed) {
    if (file.size() >= FileLayout::kDirectory) put(std::span(file), FileLayout::kFileBytes, file.size());
    seal(file);
  }
  pfgen::fuzz::count(use(whole, file));
  return 0;
}

std::vector<pfgen::fuzz::Input> pfgen::fuzz::seeds() {
  test::Random random(62);
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < 10 * test::wholes().size(); ++i) {
    Input& input = inputs.emplace_back(1 + test::kChangeBytes * random.between(0, 4));
    for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random.below(256));
    input[0] = static_cast<std::uint8_t>(i);
  }
  return inputs;
}
