// Compiled suites: what is written opens again with the same scores, and damaged bytes are refused. Seeds are fixed.
// The fuzz targets try more bytes.
#include <algorithm>

#include "index/row_placement.hpp"
#include "index/section_shape.hpp"
#include "makers/check.hpp"
#include "makers/index_bytes.hpp"
#include "makers/rules.hpp"
#include "scoring/set_scores.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// ---- Checksums ----

void checksums_are_those_of_xxh64() {
  CHECK(checksum({}) == 0xEF46DB3751D8E999U);
  CHECK(checksum(bytes_of("a")) == 0xD24EC4F1A98C6E5BU);
  CHECK(checksum(bytes_of("abc")) == 0x44BC2CF5AD770999U);
  // Made with the Python package xxhash; 0, 1, 2, ... by whole stripes, and with all kinds of rests.
  std::string counting;
  for (int i = 0; i < 1000; ++i) counting.push_back(static_cast<char>(i % 251));
  CHECK(checksum(bytes_of(counting).first(31)) == 0xC346D2B59B4D8EE1U);
  CHECK(checksum(bytes_of(counting).first(32)) == 0xCBF59C5116FF32B4U);
  CHECK(checksum(bytes_of(counting).first(47)) == 0x0D9883A03E7BFBB8U);
  CHECK(checksum(bytes_of(counting)) == 0xF306F04AA88B54D3U);
}

// ---- Edges ----

// Rows of all lengths over a few symbols that many have and many that few have, after one that has them all.
struct RandomRows {
  std::vector<std::uint32_t> begin{0};
  std::vector<Symbol> symbols;

  RandomRows(Random& random, std::size_t n_rows, std::size_t n_symbols) {
    for (Symbol symbol = 0; symbol < n_symbols; ++symbol) symbols.push_back(symbol);
    begin.push_back(static_cast<std::uint32_t>(symbols.size()));
    for (std::size_t row = 1; row < n_rows; ++row) {
      const std::size_t n = random.between(0, random.one_in(20) ? std::min<std::size_t>(n_symbols, 40) : 3);
      for (std::size_t i = 0; i < n; ++i) {
        const auto symbol =
            static_cast<Symbol>(random.below(random.one_in(2) ? std::min<std::size_t>(n_symbols, 9) : n_symbols));
        if (std::find(symbols.begin() + begin.back(), symbols.end(), symbol) == symbols.end())
          symbols.push_back(symbol);
      }
      begin.push_back(static_cast<std::uint32_t>(symbols.size()));
    }
  }
};

void every_symbol_of_a_row_has_a_slot_of_its_own() {
  Random random(21);
  for (const auto& [n_rows, n_symbols] : {std::pair{1U, 1U}, {1U, 70U}, {2U, 2U}, {500U, 30U}, {2'000U, 900U}}) {
    const RandomRows made(random, n_rows, n_symbols);
    const Rows rows{made.begin, made.symbols};
    const Placement placement = place_rows(rows);
    std::vector<std::uint32_t> row_of_slot(placement.n_slots, n_rows);
    std::vector<Symbol> symbol_of_slot(placement.n_slots, n_symbols);
    for (std::uint32_t row = 0; row < n_rows; ++row) {
      for (const Symbol symbol : rows[row]) {
        const std::size_t slot = placement.bases[row] + symbol;
        CHECK(slot < placement.n_slots && row_of_slot[slot] == n_rows);
        row_of_slot[slot] = row;
        symbol_of_slot[slot] = symbol;
      }
    }
    bool is_found_by_its_row_only = placement.bases[0] == 0;
    for (std::uint32_t row = 0; row < n_rows; ++row) {
      for (Symbol symbol = 0; symbol < n_symbols; ++symbol) {
        const std::size_t slot = placement.bases[row] + symbol;
        is_found_by_its_row_only = is_found_by_its_row_only && slot < placement.n_slots &&
                                   (symbol_of_slot[slot] != symbol || row_of_slot[slot] == row);
      }
    }
    CHECK(is_found_by_its_row_only);
    CHECK(placement.n_slots <= made.symbols.size() + made.symbols.size() / 10 + 2 * n_symbols);  // hardly a gap
  }
}

// ---- Counts ----

void shares_and_highest_levels_are_those_of_the_wide_form() {
  Random random(26);
  std::vector<CompactStates::Levels> compact(203);
  std::vector<WideStates::Levels> wide(compact.size());
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const std::uint32_t divisor = static_cast<std::uint32_t>(random.between(1, kMaxOrder));
    const std::uint32_t n = static_cast<std::uint32_t>(random.between(0, divisor));
    CompactStates::Counts counts = 0;
    WideStates::Counts wide_counts;
    for (std::size_t set = 0; set < kSetsPerIndex; ++set) {
      wide_counts.of_sets[set] =
          divisor * static_cast<std::uint32_t>(random.below(CompactStates::kMaxCount / divisor + 1));
      counts |= CompactStates::Counts{wide_counts.of_sets[set]} << 16 * set;
      wide[i].of_sets[set] = static_cast<std::uint32_t>(random.below(CompactStates::kMaxLevel + 1));
      compact[i].of_sets = static_cast<std::uint16_t>(compact[i].of_sets | wide[i].of_sets[set] << 4 * set);
    }
    const CompactStates::Counts share = CompactStates::share_of(counts, n, divisor);
    const WideStates::Counts wide_share = WideStates::share_of(wide_counts, n, divisor);
    for (std::size_t set = 0; set < kSetsPerIndex; ++set) {
      CHECK((share >> 16 * set & CompactStates::kMaxCount) == wide_share.of_sets[set]);
      CHECK(wide_share.of_sets[set] == n * (wide_counts.of_sets[set] / divisor));
    }
  }
  std::vector<CompactStates::Levels> highest(compact.size() - 2);
  std::vector<WideStates::Levels> wide_highest(highest.size());
  take_highest(compact, highest);
  take_highest(wide, wide_highest);
  for (std::size_t i = 0; i < highest.size(); ++i) {
    for (std::size_t set = 0; set < kSetsPerIndex; ++set) CHECK(highest[i][set] == wide_highest[i][set]);
  }
}

// ---- Files ----

// Small questions of all kinds: with one set, with several indexes, and in the wide form.
std::vector<Sets> questions(Random& random) {
  std::vector<Sets> all{random_sets(random, 1, false), random_sets(random, 4, false), random_sets(random, 5, false),
                        random_sets(random, 9, false)};
  all.push_back({{U"あい", U"いう"}});
  // Sums of frequencies beyond 16 bits.
  all.push_back({std::vector<Text>(CompactStates::kMaxCount / 10 + 1, U"あいうえおかきくけこ"), {U"あいうabc"}});
  for (char32_t c = 0; c < 20; ++c) all.back()[1].push_back(Text(1, U'う' + c) + Text(2, U'え' + c));
  return all;
}

std::vector<Text> answers(Random& random, const Sets& references, std::size_t n) {
  std::vector<Text> texts(n);
  for (Text& text : texts) text = random_answer(random, references[0], random.pick(kLengths));
  return texts;
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

void a_file_gives_the_scores_of_what_was_built() {
  Random random(22);
  const std::vector<Sets> sets = questions(random);
  std::vector<Text> texts = answers(random, sets[3], 40);
  for (const Text& text : answers(random, sets[5], 10)) texts.push_back(text);
  for (const Profile profile : {Profile::kLeaderboard, Profile::kPaper}) {
    std::vector<ReferenceSets> references;
    for (const Sets& of_question : sets) references.push_back(views(of_question));
    const auto built = compile(references, profile, 2);
    const Bytes bytes = file_of(profile, sets);
    const IndexFile file = open(bytes);
    CHECK(file.head().profile == profile && file.head().details == "details");
    CHECK(file.head().metadata_hash == std::string(40, 'a'));
    CHECK(file.questions().size() == sets.size());
    CHECK(same_bits(scores(file.questions(), texts), scores(built, texts)));
    CHECK(same_bits(scores(file.questions(), texts, 3), scores(built, texts)));
    for (std::size_t q = 0; q < sets.size(); ++q) {
      const References& opened = file.questions()[q]->references();
      CHECK(opened.groups().size() == (sets[q].size() + kSetsPerIndex - 1) / kSetsPerIndex);
      CHECK(opened.groups()[0].index().is_wide() == (q == 5));
    }
  }
}

void a_file_may_hold_no_questions_and_no_details() {
  const IndexFile file = open(file_of({Profile::kPaper, std::string(40, '0'), ""}, {}));
  CHECK(file.questions().empty() && file.head().details.empty());
  CHECK_THROWS(CompileError, make_head({Profile::kPaper, "short", ""}, {}));
}

void threads_may_open_a_question_together() {
  Random random(23);
  const std::vector<Sets> sets{random_sets(random, 2, false)};
  const std::vector<Text> texts = answers(random, sets[0], 1000);
  const Bytes bytes = file_of(Profile::kLeaderboard, sets);
  const std::vector<double> expected = scores(open(bytes).questions(), texts);
  for (int i = 0; i < 20; ++i) CHECK(same_bits(scores(open(bytes).questions(), texts, 8), expected));
}

// ---- Damage ----

bool is_refused_each_time(std::span<const std::byte> bytes, std::size_t question) {
  try {
    const IndexFile file = open(bytes);
    const QuestionIndex& index = *file.questions().at(question);
    return throws<IndexFormatError>([&] { index.references(); }) &&
           throws<IndexFormatError>([&] { index.references(); });
  } catch (const IndexFormatError&) {
    return true;
  }
}

void a_damaged_file_is_refused_each_time() {
  Random random(24);
  const std::vector<Sets> sets{{{U"あい", U"いう"}}, random_sets(random, 5, false)};
  const Bytes whole = file_of(Profile::kLeaderboard, sets);
  const auto n_head_bytes = number_at<std::uint64_t>(whole, FileLayout::kHeadBytes);
  const auto cut_is_refused = [&](std::size_t n) {
    return throws<IndexFormatError>([&] { open(std::span(whole).first(n)); });
  };
  for (std::size_t n = 0; n <= n_head_bytes; ++n) CHECK(cut_is_refused(n));
  for (int i = 0; i < 200; ++i) CHECK(cut_is_refused(random.below(whole.size())));
  CHECK(cut_is_refused(whole.size() - 1));
  Bytes longer = whole;
  longer.push_back({});
  CHECK_THROWS(IndexFormatError, open(longer));

  Bytes bytes = whole;
  const auto flip = [&](std::size_t bit) { bytes[bit / 8] ^= std::byte{1} << bit % 8; };
  for (std::size_t bit = 0; bit < 8 * n_head_bytes; ++bit) {
    flip(bit);
    CHECK_THROWS(IndexFormatError, open(bytes));
    flip(bit);
  }
  for (std::size_t question = 0; question < sets.size(); ++question) {
    const std::size_t first =
        8 * number_at<std::uint64_t>(whole, FileLayout::kDirectory + question * FileLayout::kEntryBytes);
    const std::size_t n_bits = 8 * section_of(bytes, question).size();
    for (int i = 0; i < 400; ++i) {
      const std::size_t bit = first + random.below(n_bits);
      flip(bit);
      CHECK(is_refused_each_time(bytes, question));
      CHECK(!is_refused_each_time(bytes, 1 - question));
      flip(bit);
    }
  }
}

// ---- Hostile sections ----

// The sentence with which a section is refused, "" if it is not.
std::string refusal(std::span<const std::byte> section) {
  try {
    References(aligned_copy(section), Profile::kLeaderboard);
    return "";
  } catch (const IndexFormatError& error) {
    return error.what();
  }
}

Bytes built_section(const Sets& sets) {
  const Section section = References(views(sets), Profile::kLeaderboard).section();
  return {section.bytes.begin(), section.bytes.end()};
}

SectionHeader header_of(std::span<const std::byte> section) { return number_at<SectionHeader>(section, 0); }

void a_symbol_without_a_state_is_refused() {
  Bytes section =
      built_section({{U"いあ", U"いあ", U"あ"}});  // あ follows い, so its edge from the root is not its only one
  const SectionShape shape(header_of(section));
  CHECK(refusal(section).empty());
  constexpr Symbol kFirst = 1;
  put(std::span(section), shape.edges + kFirst * sizeof(CompactStates::Edge), CompactStates::kNoEdge);
  CHECK(refusal(section) == "a symbol without a state");
}

void a_compact_index_has_as_many_symbols_as_its_keys_can_tell_apart() {
  Bytes section = built_section({{U"あい"}});
  section.resize(std::size_t{1} << 20);
  SectionHeader header = header_of(section);
  header.n_symbols = CompactStates::kMaxSymbol + 1;
  header.n_slots = header.n_symbols + 1;
  put(std::span(section), 0, header);
  CHECK(refusal(section) == "a compact index with too many symbols");
}

void the_answers_of_all_indexes_of_a_question_are_bounded_together() {
  Sets sets(4, {U"あい"});
  sets[0].assign(CompactStates::kMaxCount + 1, U"あい");
  Bytes section = built_section(sets);
  CHECK(header_of(section).is_wide == 1);
  put(std::span(section), SectionShape(header_of(section)).sets, kMaxAnswers / 2 + 1);  // each makes a table of it
  Bytes both = section;
  both.insert(both.end(), section.begin(), section.end());
  CHECK(refusal(section).empty());
  CHECK(refusal(both) == "a question with an impossible number of answers");
}

}  // namespace

int main() {
  checksums_are_those_of_xxh64();
  every_symbol_of_a_row_has_a_slot_of_its_own();
  shares_and_highest_levels_are_those_of_the_wide_form();
  a_file_gives_the_scores_of_what_was_built();
  a_file_may_hold_no_questions_and_no_details();
  threads_may_open_a_question_together();
  a_damaged_file_is_refused_each_time();
  a_symbol_without_a_state_is_refused();
  a_compact_index_has_as_many_symbols_as_its_keys_can_tell_apart();
  the_answers_of_all_indexes_of_a_question_are_bounded_together();
  return report("index_file_test");
}
