// The core as a WebAssembly module: one compiled suite an instance, behind functions that take numbers only.
// js/pfgen.js is its only caller, and checks what it passes.
//
// Nothing here can be unwound: an exception ends in `fail`, which throws in JavaScript, and the caller then discards
// the instance.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "index/references.hpp"
#include "pfgen/batch_scorer.hpp"
#include "pfgen/index_file.hpp"
#include "pfgen/reference_scorer.hpp"

#define PFGEN_IMPORT(name) __attribute__((import_module("pfgen"), import_name(#name))) extern "C"
#define PFGEN_EXPORT(name) extern "C" __attribute__((export_name(#name)))

PFGEN_IMPORT(fail) [[noreturn]] void fail(const char* message, std::size_t n_bytes);
// As pfgen::PatternSearch.
PFGEN_IMPORT(search)
void search(std::uint32_t question, std::size_t row, const char32_t* text, std::size_t n, std::uint32_t* ends);

// What the compiler makes of `throw`.
extern "C" void* __cxa_allocate_exception(std::size_t n_bytes) noexcept { return std::malloc(n_bytes); }
extern "C" void __cxa_free_exception(void*) noexcept {}
extern "C" [[noreturn]] void __cxa_throw(void* thrown, void*, void (*)(void*)) {
  const char* const message = static_cast<const std::exception*>(thrown)->what();  // all that the core throws is one
  fail(message, std::strlen(message));
}
// The one thread ends with its instance.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }

namespace pfgen {
namespace {

// The numbers that the caller has written, in their order.
class Numbers {
 public:
  explicit Numbers(const std::uint32_t* next) : next_(next) {}

  std::uint32_t take() { return *next_++; }
  double take_float() {
    const std::uint64_t low = take();
    return std::bit_cast<double>(std::uint64_t{take()} << 32 | low);
  }
  std::u32string take_text() {
    std::u32string text(take(), U'\0');
    for (char32_t& code_point : text) code_point = take();
    return text;
  }

 private:
  const std::uint32_t* next_;
};

struct Suite {
  IndexFile file;
  std::vector<Question> questions{};
  std::optional<BatchScorer> scorer{};
  NormalisedText memory{};
};

std::optional<Suite> suite;

KeywordRules take_rules(Numbers& numbers) {
  const std::uint32_t missing = numbers.take();
  std::vector<RuleNode> nodes(numbers.take());
  for (RuleNode& node : nodes) {
    node.form = static_cast<RuleNode::Form>(numbers.take());
    node.n_parts = numbers.take();
    node.is_named = numbers.take() != 0;
    node.importance = numbers.take_float();
    node.text = numbers.take_text();
  }
  return KeywordRules(std::move(nodes), missing);
}

std::shared_ptr<const Spelling> take_spelling(Numbers& numbers) {
  const std::uint32_t pattern = numbers.take();
  std::vector<std::u32string> words(numbers.take());
  if (words.empty()) return nullptr;
  for (std::u32string& word : words) word = numbers.take_text();
  std::u32string symbols = numbers.take_text();
  const char32_t unknown = numbers.take();
  return std::make_shared<const Spelling>(static_cast<TokenPattern>(pattern), words, std::move(symbols), unknown);
}

Answer answer_of(std::uint32_t question, std::size_t row, const TextView& text, std::vector<std::uint32_t>& positions) {
  const auto search_all = [&](std::u32string_view searched, std::span<std::uint32_t> ends) {
    search(question, row, searched.data(), searched.size(), ends.data());
  };
  positions = regex_positions(suite->questions[question], text, suite->memory, search_all);
  return {text, question, positions.data()};
}

// The number of reference answers of each set that hold the 3-gram at the end of what was read; zeros if there is none.
template <class States>
PerSet<std::uint32_t> three_gram_counts(const States& states, const Cursor& cursor) {
  PerSet<std::uint32_t> counts{};
  if (cursor.matched < 3) return counts;
  const auto* state = &states[cursor.place.state];
  while (state->link_depth() >= 3) state = &states[state->link_place().state];
  const auto& linked = states[state->link_place().state];
  for (std::size_t set = 0; set < kSetsPerIndex; ++set) {
    counts[set] = (state->cumulative(set) - linked.cumulative(set)) / (state->depth() - state->link_depth());
  }
  return counts;
}

// Adds to each unit the largest share of the answers of each set that hold one of the 3-grams over the unit.
template <class States>
void add_cover(const SetGroup& group, std::u32string_view units, std::vector<double>& cover) {
  const NgramIndex& index = group.index();
  const States& states = index.states<States>();
  std::vector<PerSet<double>> shares(units.size());
  Cursor cursor;
  for (std::size_t i = 0; i < units.size(); ++i) {
    cursor = read_symbol(states, cursor, index.alphabet().symbol_of(units[i]));
    const PerSet<std::uint32_t> counts = three_gram_counts(states, cursor);
    for (std::size_t set = 0; set < group.n_sets(); ++set) {
      const double share = counts[set] / group.n_answers(set);
      for (std::size_t unit = i < 2 ? 0 : i - 2; unit <= i; ++unit) {
        shares[unit][set] = std::max(shares[unit][set], share);
      }
    }
  }
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    for (std::size_t set = 0; set < group.n_sets(); ++set) cover[unit] += shares[unit][set];
  }
}

// The mean of the cover over all sets.
std::vector<double> cover_of(const References& references, std::u32string_view units) {
  std::vector<double> cover(units.size());
  for (const SetGroup& group : references.groups()) {
    if (group.index().is_wide()) add_cover<WideStates>(group, units, cover);
    else add_cover<CompactStates>(group, units, cover);
  }
  for (double& share : cover) share /= static_cast<double>(references.n_sets());
  return cover;
}

// Whether its NFKC is a full stop.
bool is_full_stop(char32_t c) { return c == U'.' || c == U'\uFF0E' || c == U'\uFE52'; }

}  // namespace
}  // namespace pfgen

using namespace pfgen;

PFGEN_EXPORT(allocate) void* allocate(std::size_t n_bytes) {
  return std::aligned_alloc(Section::kAlignment, Section::align(n_bytes + 1));
}
PFGEN_EXPORT(release) void release(void* memory) { std::free(memory); }

// Opens the suite in bytes that stay where they are.
PFGEN_EXPORT(open) std::size_t open_suite(const std::byte* bytes, std::size_t n_bytes) {
  suite.emplace(Suite{IndexFile(Section{{bytes, n_bytes}, nullptr})});
  return suite->file.questions().size();
}
PFGEN_EXPORT(profile) std::uint32_t profile() { return static_cast<std::uint32_t>(suite->file.head().profile); }
PFGEN_EXPORT(details) const char* details() { return suite->file.head().details.data(); }
PFGEN_EXPORT(details_size) std::size_t details_size() { return suite->file.head().details.size(); }
PFGEN_EXPORT(metadata_hash) const char* metadata_hash() { return suite->file.head().metadata_hash.data(); }

// Adds the next question of the file.
PFGEN_EXPORT(add_question) void add_question(const std::uint32_t* described) {
  Numbers numbers(described);
  Question question{.index = suite->file.questions()[suite->questions.size()], .rules = nullptr, .set_columns = {}};
  question.set_columns.resize(numbers.take());
  for (std::size_t& column : question.set_columns) column = numbers.take();
  question.lengths.target = numbers.take();
  question.lengths.limit = numbers.take();
  question.rules = std::make_shared<const KeywordRules>(take_rules(numbers));
  question.spelling = take_spelling(numbers);
  suite->questions.push_back(std::move(question));
}

PFGEN_EXPORT(complete) void complete(std::uint32_t float_sum) {
  suite->scorer.emplace(suite->questions, static_cast<FloatSum>(float_sum));
}

// Scores texts of one question, which lie one after the other in `units`, of 16 or 32 bits; `columns` are fluency,
// truthfulness, helpfulness and average, then those of the sets.
PFGEN_EXPORT(score)
void score(std::uint32_t question, const std::byte* units, const std::uint32_t* n_units, std::size_t n_texts,
           std::uint32_t is_wide, double* columns, std::size_t n_sets) {
  const Encoding encoding = is_wide != 0 ? Encoding::kUcs4 : Encoding::kUcs2;
  std::vector<std::vector<std::uint32_t>> positions(n_texts);
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < n_texts; ++i) {
    answers.push_back(answer_of(question, i, {units, n_units[i], encoding}, positions[i]));
    units += n_units[i] * unit_size(encoding);
  }
  double* const sets = columns + 4 * n_texts;
  suite->scorer->score(
      answers, 1,
      {columns, columns + n_texts, columns + 2 * n_texts, columns + 3 * n_texts, sets, sets + n_sets * n_texts});
}

// The truncation of an answer, then for each rule whether it is met there and what names it.
PFGEN_EXPORT(explain) void explain(std::uint32_t question, const char32_t* text, std::size_t n, double* out) {
  std::vector<std::uint32_t> positions;
  const Answer answer = answer_of(question, 0, {text, n, Encoding::kUcs4}, positions);
  const HelpfulnessDetails details = suite->scorer->details(answer);
  *out++ = static_cast<double>(details.truncation);
  for (const RulePosition& rule : details.rules) {
    *out++ = details.truncation < rule.position ? 0 : 1;
    *out++ = rule.named_by;
  }
}

// For each code point of a text, how common its 3-grams are in the references, as `Explanation.cover` in Python; -1
// where it is left out or not read.
PFGEN_EXPORT(cover) void cover(std::uint32_t number, const char32_t* text, std::size_t n, double* out) {
  const Question& question = suite->questions[number];
  const std::size_t limit = question.look_ahead();
  std::u32string_view units(text, n);
  const bool is_normalised = question.index->profile() == Profile::kNormalised;
  NormalisedText normalised(question.spelling == nullptr ? Gaps::kNothing : Gaps::kSpaces);
  if (is_normalised) {
    normalised.read({text, n, Encoding::kUcs4}, kNoError);
    units = {normalised.units().data(), normalised.units().size()};
  }
  std::vector<double> of_units;
  if (question.spelling == nullptr) {
    of_units = cover_of(question.index->references(), units.substr(0, limit));
  } else {
    SpelledText words;
    question.spelling->spell(units, limit + 1, words);
    const std::size_t n_read = words.n_read(units.size(), limit);
    words.symbols.resize(std::min(words.symbols.size(), limit));
    const std::vector<double> of_words = cover_of(question.index->references(), words.symbols);
    for (std::size_t end = 1; end <= n_read; ++end) {  // white space counts as the word before it
      const std::uint32_t n_begun = words.position(end);
      of_units.push_back(n_begun == 0 ? 0.0 : of_words[n_begun - 1]);
    }
  }
  const TextForm& form = normalised.form(0);
  std::size_t end = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t unit = end;
    end = is_normalised ? form.position(i + 1) : i + 1;
    // A decimal point is counted with the digit behind it.
    if (is_normalised && unit == end && is_full_stop(text[i]) && i + 1 < n && form.position(i + 2) == end + 2) ++end;
    if (is_normalised && unit < end && units[unit] == U' ') ++unit;  // the gap before it
    out[i] = -1;  // a character that becomes several units is as common as the most common of them
    for (; unit < std::min(end, of_units.size()); ++unit) out[i] = std::max(out[i], of_units[unit]);
  }
}

// Scores texts with their references by one metric, with the options that Python has by default.
PFGEN_EXPORT(compare)
double compare(std::uint32_t metric, const char32_t* texts, const std::uint32_t* n_units, std::size_t n_texts) {
  std::vector<TextView> views;
  for (std::size_t i = 0; i < n_texts; ++i) {
    views.push_back({texts, n_units[i], Encoding::kUcs4});
    texts += n_units[i];
  }
  const ReferenceScorer scorer(ReferenceOptions{.metrics = {{static_cast<ReferenceMetric>(metric), 0}}});
  std::array<double, 3> columns{};
  std::vector<std::int32_t> counts(scorer.n_counts());
  const std::array<std::uint32_t, 1> list = {0};
  const std::array<std::uint64_t, 2> begins = {0, n_texts - 1};
  scorer.score({.answers = std::span(views).first(1),
                .lists = list,
                .references = std::span(views).subspan(1),
                .begins = begins,
                .of_answers = {},
                .of_references = {}},
               1, std::span(columns).first(scorer.n_columns()), counts);
  return columns[0];  // of ROUGE: F, before precision and recall
}
