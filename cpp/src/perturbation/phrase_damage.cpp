// Numbers changed, and function words exchanged for others.
#include <algorithm>
#include <array>
#include <optional>

#include "perturbation/damage.hpp"
#include "perturbation/tables.hpp"
#include "perturbation/words.hpp"
#include "text/unicode.hpp"

namespace pfgen {
namespace {

constexpr char32_t kWideZero = U'０';
constexpr std::size_t kLongestFunctionWord = 5;

// Of an ASCII or full-width digit.
std::optional<unsigned> digit_value(char32_t c) {
  if (c >= U'0' && c <= U'9') return static_cast<unsigned>(c - U'0');
  if (c >= kWideZero && c <= U'９') return static_cast<unsigned>(c - kWideZero);
  return std::nullopt;
}

class NumberChange final : public SiteDamage {
  std::size_t find_sites() override {
    places_.clear();
    bool is_inside = false;
    for (std::size_t at = 0; at < original().size(); ++at) {
      const bool is_digit = digit_value(original().base(at)).has_value();
      if (is_digit && !is_inside) places_.push_back(static_cast<std::uint32_t>(at));
      is_inside = is_digit;
    }
    return places_.size();
  }

  void edit(std::size_t site, std::uint64_t choice, std::uint32_t rank) override {
    const std::uint32_t at = places_[site];
    const char32_t c = original().base(at);
    const unsigned old = digit_value(c).value_or(0);
    Generator generator(choice);
    auto digit = static_cast<unsigned>(1 + below(generator, old == 0 ? 9 : 8));
    if (old != 0 && digit >= old) ++digit;
    edits().begin({at, at + 1}, rank);
    edits().add((c >= kWideZero ? kWideZero : U'0') + digit);
  }

  std::vector<std::uint32_t> places_;  // the first digit of each number
};

// A word with its set, and its place in that.
struct FunctionWord {
  Span span;
  std::size_t set;
  std::size_t own;
};

std::optional<FunctionWord> function_word(const Original& text, Span span) {
  const std::u32string_view word = text.view(span);
  if (word.size() > kLongestFunctionWord) return std::nullopt;
  std::array<char32_t, kLongestFunctionWord> low{};
  std::transform(word.begin(), word.end(), low.begin(), ascii_lower);
  const std::u32string_view found(low.data(), word.size());
  for (std::size_t set = 0; set < kFunctionWords.size(); ++set) {
    for (std::size_t own = 0; own < kFunctionWords[set].size(); ++own) {
      if (kFunctionWords[set][own] == found) return FunctionWord{span, set, own};
    }
  }
  return std::nullopt;
}

class FunctionWords final : public SiteDamage {
  std::size_t find_sites() override {
    words_.clear();
    particles_.clear();
    if (original().is_japanese()) {
      find_particles(original());
      return particles_.size();
    }
    finder_.find_words(original(), spans_);
    for (const Span span : spans_) {
      if (const auto word = function_word(original(), span)) words_.push_back(*word);
    }
    return words_.size();
  }

  // Each the only hiragana between content and content or a comma.
  void find_particles(const Original& text) {
    text.find_scripts(scripts_);
    const auto is_content = [&](std::size_t at) {
      return scripts_[at] != Script::kOther && scripts_[at] != Script::kHiragana;
    };
    for (std::size_t at = 1; at + 1 < text.size(); ++at) {
      if (scripts_[at] != Script::kHiragana || !is_content(at - 1)) continue;
      if (!is_content(at + 1) && text.base(at + 1) != U'、') continue;
      if (kParticles.find(text.base(at)) == std::u32string_view::npos) continue;
      particles_.push_back(static_cast<std::uint32_t>(at));
    }
  }

  void edit(std::size_t site, std::uint64_t choice, std::uint32_t rank) override {
    Generator generator(choice);
    if (original().is_japanese()) {
      const std::uint32_t at = particles_[site];
      edits().begin({at, at + 1}, rank);
      const std::size_t i = below(generator, kParticles.size() - 1);
      edits().add(kParticles[i < kParticles.find(original().base(at)) ? i : i + 1]);
      return;
    }
    const FunctionWord& word = words_[site];
    const auto& set = kFunctionWords[word.set];
    const auto n_words = static_cast<std::size_t>(
        std::count_if(set.begin(), set.end(), [](std::u32string_view other) { return !other.empty(); }));
    const std::size_t i = below(generator, n_words - 1);
    const std::u32string_view other = set[i < word.own ? i : i + 1];
    edits().begin(word.span, rank);
    const char32_t shift = original().is_capital(word.span.begin) ? U'a' - U'A' : 0;
    edits().add(other.front() - shift);
    edits().add(other.substr(1));
  }

  WordFinder finder_;
  std::vector<Script> scripts_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> particles_;
  std::vector<FunctionWord> words_;
};

}  // namespace

std::span<const Kind> phrase_kinds() {
  static constexpr std::array kKinds{Kind{"number_change", make_damage<NumberChange>},
                                     Kind{"function_word", make_damage<FunctionWords>}};
  return kKinds;
}

}  // namespace pfgen
