// Compiled suites: written files open again with the same scores, and damaged bytes are refused. Seeds are fixed. The
// fuzz targets try more bytes.
#include "index/section_shape.hpp"
#include "makers/check.hpp"
#include "makers/index_bytes.hpp"
#include "makers/rules.hpp"
#include "scoring/walker.hpp"

namespace pfgen::test {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(checksums_are_those_of_xxh64) {
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

TEST(threads_build_what_a_file_gives_the_scores_of) {
  Random random(22);
  const std::vector<Sets> sets = questions(random);
  std::vector<Text> texts = answers(random, sets[3], 40);
  for (const Text& text : answers(random, sets[5], 10)) texts.push_back(text);
  for (const Profile profile : {Profile::kLeaderboard, Profile::kPaper, Profile::kNormalised}) {
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

TEST(a_file_may_hold_no_questions_and_no_details) {
  const IndexFile file = open(file_of({Profile::kPaper, std::string(40, '0'), ""}, {}));
  CHECK(file.questions().empty() && file.head().details.empty());
  CHECK_THROWS(CompileError, make_head({Profile::kPaper, "short", ""}, {}));
}

TEST(threads_may_open_a_question_together) {
  Random random(23);
  const std::vector<Sets> sets{random_sets(random, 2, false)};
  const std::vector<Text> texts = answers(random, sets[0], 1000);
  const Bytes bytes = file_of(Profile::kLeaderboard, sets);
  const std::vector<double> expected = scores(open(bytes).questions(), texts);
  for (int i = 0; i < 20; ++i) CHECK(same_bits(scores(open(bytes).questions(), texts, 8), expected));
}

bool is_refused_each_time(std::span<const std::byte> bytes, std::size_t question, bool is_own) {
  try {
    const IndexFile file = open(bytes, is_own);
    const QuestionIndex& index = *file.questions().at(question);
    return throws<IndexFormatError>([&] { index.references(); }) &&
           throws<IndexFormatError>([&] { index.references(); });
  } catch (const IndexFormatError&) {
    return true;
  }
}

TEST(a_damaged_file_is_refused_each_time) {
  Random random(24);
  const std::vector<Sets> sets{{{U"あい", U"いう"}}, random_sets(random, 5, false)};
  const Bytes whole = file_of(Profile::kLeaderboard, sets);
  const auto n_head_bytes = number_at<std::uint64_t>(whole, FileLayout::kHeadBytes);
  std::vector<std::size_t> cuts(n_head_bytes + 1);
  std::iota(cuts.begin(), cuts.end(), std::size_t{0});
  for (int i = 0; i < 200; ++i) cuts.push_back(random.below(whole.size()));
  cuts.push_back(whole.size() - 1);
  for (const std::size_t n : cuts) CHECK_THROWS(IndexFormatError, open(std::span(whole).first(n)));
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
      for (const bool is_own : {false, true}) {
        CHECK(is_refused_each_time(bytes, question, is_own));
        CHECK(!is_refused_each_time(bytes, 1 - question, is_own));
      }
      flip(bit);
    }
  }
}

TEST(only_the_checksum_of_an_own_section_is_checked) {
  const std::vector<Sets> sets{Sets{{U"あい", U"いう"}}};
  Bytes bytes = file_of(Profile::kLeaderboard, sets);
  const std::span<std::byte> section = section_of(bytes, 0);
  const auto header = number_at<SectionHeader>(section, 0);
  put(section, SectionShape(header).edges + (header.n_slots - 1) * sizeof(CompactStates::Edge),
      CompactStates::edge(1, {header.n_states, 0}));
  seal(bytes);
  CHECK(is_refused_each_time(bytes, 0, false));
  CHECK(!is_refused_each_time(bytes, 0, true));
}

// The sentence with which a section is refused, "" if it is not.
std::string refusal(std::span<const std::byte> section) {
  try {
    References(aligned_copy(section), Profile::kLeaderboard);
    return "";
  } catch (const IndexFormatError& error) {
    return error.what();
  }
}

Bytes built_section(const Sets& sets, const Lengths& lengths = {}) {
  const Section section = References(views(sets), Profile::kLeaderboard, lengths).section();
  return {section.bytes.begin(), section.bytes.end()};
}

SectionHeader header_of(std::span<const std::byte> section) { return number_at<SectionHeader>(section, 0); }

TEST(an_index_keeps_its_lengths_and_is_refused_with_impossible_ones) {
  const Sets sets{{U"あい"}};
  const Bytes usual = built_section(sets), longest = built_section(sets, {1, kMaxLimit});
  CHECK(header_of(usual).target == 0 && header_of(usual).limit == 0);
  CHECK((References(aligned_copy(longest), Profile::kPaper).lengths() == Lengths{1, kMaxLimit}));
  const auto refusal_with = [](Bytes section, std::uint16_t target, std::uint16_t limit) {
    SectionHeader header = header_of(section);
    header.target = target;
    header.limit = limit;
    put(std::span(section), 0, header);
    return refusal(section);
  };
  CHECK(refusal_with(longest, 7, 9).empty());
  constexpr const char* kImpossible = "the lengths of an index are out of their bounds";
  CHECK(refusal_with(longest, 0, 9) == kImpossible && refusal_with(longest, 9, 0) == kImpossible);
  CHECK(refusal_with(longest, 9, 9) == kImpossible && refusal_with(longest, 9, kMaxLimit + 1) == kImpossible);
  CHECK(refusal_with(usual, 7, 9) == kImpossible);  // a compact index
  Bytes both = built_section(Sets(4, sets[0]), {7, 9});
  both.insert(both.end(), longest.begin(), longest.end());
  CHECK(refusal(both) == "indexes of two lengths");
  Question question = plain_question(compile(std::vector<ReferenceSets>{views(sets)}, Profile::kPaper, 1).front());
  question.lengths = {7, 9};
  double columns[6];
  const ScoreColumns out{columns, columns + 1, columns + 2, columns + 3, columns + 4, columns + 5};
  CHECK_THROWS(IndexFormatError, BatchScorer({question}, FloatSum::kNaive).score(answers_of(sets[0]), 1, out));
  for (const Lengths& lengths : {Lengths{0, 9}, {9, 9}, {9, kMaxLimit + 1}}) {
    CHECK_THROWS(CompileError, built_section(sets, lengths));
  }
}

TEST(a_symbol_without_a_state_is_refused) {
  Bytes section =
      built_section({{U"いあ", U"いあ", U"あ"}});  // あ follows い, so its edge from the root is not its only one
  const SectionShape shape(header_of(section));
  CHECK(refusal(section).empty());
  constexpr Symbol kFirst = 1;
  put(std::span(section), shape.edges + kFirst * sizeof(CompactStates::Edge), CompactStates::kNoEdge);
  CHECK(refusal(section) == "a symbol without a state");
}

TEST(a_compact_index_has_as_many_symbols_as_its_keys_can_tell_apart) {
  Bytes section = built_section({{U"あい"}});
  section.resize(std::size_t{1} << 20);
  SectionHeader header = header_of(section);
  header.n_symbols = CompactStates::kMaxSymbol + 1;
  header.n_slots = header.n_symbols + 1;
  put(std::span(section), 0, header);
  CHECK(refusal(section) == "a compact index with too many symbols");
}

// An index is read in pieces; the states and edges at their ends are checked like all others.
TEST(every_place_of_a_long_index_is_checked) {
  Random random(41);
  Sets sets(1, std::vector<Text>(60));
  for (Text& text : sets[0]) {
    for (int i = 0; i < 50; ++i) text.push_back(U'あ' + static_cast<char32_t>(random.below(40)));
  }
  Bytes section = built_section(sets);
  const SectionHeader header = header_of(section);
  const SectionShape shape(header);
  constexpr StateId kPiece = 12'288 / sizeof(CompactStates::State);
  CHECK(header.is_wide == 0 && header.n_states > 2 * kPiece && header.n_slots > 2 * kPiece);
  const auto refusal_with = [&](std::uint64_t offset, auto changed) {
    const auto before = number_at<decltype(changed)>(section, offset);
    put(std::span(section), offset, changed);
    std::string message = refusal(section);
    put(std::span(section), offset, before);
    return message;
  };
  for (const StateId id : {StateId{1}, kPiece - 1, kPiece, kPiece + 1, 2 * kPiece, header.n_states - 1}) {
    const std::uint64_t offset = shape.states + id * sizeof(CompactStates::State);
    auto state = number_at<CompactStates::State>(section, offset);
    state.link = (state.link & ~std::uint64_t{CompactStates::kMaxStates - 1}) | id;
    CHECK(refusal_with(offset, state) == "a state with an impossible link or depth");
  }
  for (const std::uint32_t slot : {header.n_symbols + 1, 2 * kPiece - 1, 2 * kPiece, header.n_slots - 1}) {
    const CompactStates::Edge edge = CompactStates::edge(1, {header.n_states, 0});
    CHECK(refusal_with(shape.edges + slot * sizeof edge, edge) == "an edge that leads nowhere");
  }
  CHECK(refusal(section).empty());
}

TEST(the_answers_of_all_indexes_of_a_question_are_bounded_together) {
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

}  // namespace pfgen::test
