// Reads bytes as reference sets and answers. Compares the scores of the core, in memory and from a file, with the
// written rules (makers/rules.hpp), and normalises the answers (makers/normalised.hpp).
#include <array>

#include "makers/check.hpp"
#include "makers/index_bytes.hpp"
#include "makers/normalised.hpp"
#include "makers/scored_answers.hpp"
#include "target.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

class Reader : public fuzz::ByteReader {
 public:
  using ByteReader::ByteReader;

  std::size_t below(std::size_t n) { return byte() % n; }

  // For profile normalised, references and answers are texts in units already.
  Profile profile() {
    constexpr std::array kProfiles{Profile::kLeaderboard, Profile::kPaper, Profile::kNormalised};
    return kProfiles[below(kProfiles.size())];
  }

  // Beyond the usual ones, lengths that texts exceed, and one whose repetitions are found in another way.
  Lengths lengths() {
    constexpr std::array<Lengths, 6> kLengths{{{}, {}, {1, 2}, {20, 33}, {90, 254}, {250, 300}}};
    return kLengths[below(kLengths.size())];
  }

  // Up to 255 code points. A byte is a letter, or a piece of an earlier text, so that texts share n-grams.
  Text text() {
    const std::size_t length = byte();
    Text text;
    while (text.size() < length && !is_at_end()) {
      const std::uint8_t b = byte();
      if (b < 0xA0 || all_.empty()) {
        text += kAlphabet[b % kAlphabet.size()];
      } else if (b < 0xB4) {
        text += TextRef(U"\0𠮷\x10FFFF\xFFFF字あ】\xD800か\x3099\x0301ｶe1.ﾞ\x1112\x1161\x11AB\xFDFA", 20)[b - 0xA0];
      } else {
        const std::size_t at = byte() * all_.size() / 256;
        text += all_.substr(at, b - 0xB3U);
      }
    }
    if (text.size() > length) text.resize(length);
    all_ += text;
    return text;
  }

 private:
  Text all_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes) {
  Reader reader({data, std::min<std::size_t>(n_bytes, 1500)});
  const Profile profile = reader.profile();
  const Lengths lengths = reader.lengths();
  Sets sets(1 + reader.below(5));
  for (auto& set : sets) {
    for (std::size_t n = 1 + reader.below(6); n > 0; --n) set.push_back(reader.text());
    // Frequencies that need more than 16 bits for their sums, or more than 200 answers to tell them apart.
    const std::size_t repeats = reader.byte();
    if (repeats >= 0xF8) set.resize(repeats == 0xFF ? 7000 : 230, set[0]);
  }
  std::vector<Text> texts;
  while (!reader.is_at_end() && texts.size() < 8) {
    texts.push_back(reader.text());
    if (lengths.limit > 255) texts.back() += texts.front();
  }

  const Rules rules(sets, profile, lengths);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (rules.baseline(s) > 0.0) continue;
    const auto compiling = [&] { References(views(sets), profile, lengths); };
    fuzz::require(throws<CompileError>(compiling), "a set without a baseline is compiled");
    fuzz::count(false);
    return 0;
  }
  const References references(views(sets), profile, lengths);
  fuzz::require(baselines_follow(references, rules), "a baseline differs from the rules");
  fuzz::require(scores_follow(references, rules, texts), "a score differs from the rules");
  const Section section = references.section();
  const References opened(aligned_copy(section.bytes), profile);
  for (const Text& text : texts) {
    fuzz::require(scores_follow(opened, rules, std::span(&text, 1)), "a score alone differs from the rules");
  }
  for (const Text& text : texts) {
    const TextRef begin = TextRef(text).substr(0, 30);
    const bool follow = prefixes_follow(Text(begin), Gaps::kNothing) && prefixes_follow(Text(begin), Gaps::kSpaces);
    fuzz::require(follow, "the prefixes of a normalised text differ from texts of their own");
  }
  fuzz::count(true);
  return 0;
}

std::vector<pfgen::fuzz::Input> pfgen::fuzz::seeds() { return random_seeds(41); }
