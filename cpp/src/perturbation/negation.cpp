// Statements that are denied, and denials that are not.
#include <algorithm>
#include <array>
#include <optional>

#include "perturbation/damage.hpp"
#include "perturbation/tables.hpp"

namespace pfgen {
namespace {

constexpr std::u32string_view kCannot = U"cannot";
constexpr std::size_t kCanLength = 3;
constexpr std::u32string_view kNot = U" not";
constexpr std::u32string_view kTo = U" to";

// The words that may precede `n't`.
constexpr std::array<std::u32string_view, 15> kContracted{U"ca",  U"wo",   U"do",    U"is",    U"are",
                                                          U"was", U"were", U"could", U"would", U"should",
                                                          U"has", U"have", U"had",   U"does",  U"did"};

// The order of the Japanese rules in which the longest that fits is found first.
constexpr auto kLongestFirst = [] {
  std::array<std::size_t, kJapaneseNegations.size()> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [](std::size_t a, std::size_t b) {
    const std::size_t a_size = kJapaneseNegations[a].first.size(), b_size = kJapaneseNegations[b].first.size();
    return a_size != b_size ? a_size > b_size : a < b;
  });
  return order;
}();

// A letter as patterns compare it that ignore case.
char32_t folded(char32_t c) {
  if (c >= U'A' && c <= U'Z') return c + (U'a' - U'A');
  if (c == U'ſ') return U's';
  if (c == U'İ' || c == U'ı') return U'i';
  return c;
}

// The replacement of a match: `text` replaces `span`, and its first letter takes the case of the first letter there.
struct Denial {
  Span span;
  std::u32string_view text;
  bool keeps_capital;
};

struct Match {
  Denial denial;
  std::size_t end;
};

class EnglishNegation {
 public:
  explicit EnglishNegation(const Original& text) : text_(text) {}

  std::optional<Match> match_at(std::size_t at) const {
    if (!is_word(at) || (at > 0 && is_word(at - 1))) return std::nullopt;
    const char32_t first = folded(text_.base(at));
    if (first == U'c' && stands_at(at, kCannot) && is_edge(at + kCannot.size())) {
      return Match{denial(at + kCanLength, at + kCannot.size(), U""), at + kCannot.size()};
    }
    for (const std::u32string_view word : kContracted) {
      if (word.front() != first || !stands_at(at, word)) continue;
      const std::size_t end = contraction_end(at + word.size());
      if (end == 0) continue;
      if (word == U"wo") return Match{denial(at, end, U"will", true), end};
      if (word == U"ca") return Match{denial(at, end, U"can", true), end};
      return Match{denial(at + word.size(), end, U""), end};
    }
    for (const std::u32string_view word : kAuxiliaries) {
      if (word.front() != first || !stands_at(at, word)) continue;
      const std::size_t end = at + word.size();
      if (stands_at(end, kTo) && is_edge(end + kTo.size())) continue;
      if (stands_at(end, kNot) && is_edge(end + kNot.size())) {
        return Match{denial(end, end + kNot.size(), U""), end + kNot.size()};
      }
      if (is_edge(end)) return Match{denial(end, end, word == U"can" ? U"not" : kNot), end};
    }
    return std::nullopt;
  }

 private:
  bool is_word(std::size_t at) const { return text_.is_alphanumeric(at) || text_.base(at) == U'_'; }

  // Whether one of the code points around `at` is of a word and the other is not.
  bool is_edge(std::size_t at) const { return (at > 0 && is_word(at - 1)) != (at < text_.size() && is_word(at)); }

  bool stands_at(std::size_t at, std::u32string_view low) const {
    if (at + low.size() > text_.size()) return false;
    for (std::size_t i = 0; i < low.size(); ++i) {
      if (folded(text_.base(at + i)) != low[i]) return false;
    }
    return true;
  }

  static Denial denial(std::size_t begin, std::size_t end, std::u32string_view text, bool keeps_capital = false) {
    return {{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}, text, keeps_capital};
  }

  // The end of `n't` at `at`; 0 if it is not there.
  std::size_t contraction_end(std::size_t at) const {
    if (at + 3 > text_.size() || folded(text_.base(at)) != U'n') return 0;
    if (text_.base(at + 1) != U'\'' && text_.base(at + 1) != U'’') return 0;
    return folded(text_.base(at + 2)) == U't' && is_edge(at + 3) ? at + 3 : 0;
  }

  const Original& text_;
};

class JapaneseNegation {
 public:
  explicit JapaneseNegation(const Original& text) : bases_(text.bases(), text.size()) {}

  std::optional<Match> match_at(std::size_t at) const {
    if (!is_hiragana(bases_[at])) return std::nullopt;
    for (const std::size_t rule : kLongestFirst) {
      const auto& [old, other] = kJapaneseNegations[rule];
      const std::size_t end = at + old.size();
      if (old.front() != bases_[at] || !bases_.substr(at).starts_with(old) || !is_followed(end)) continue;
      return Match{{{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)}, other, false}, end};
    }
    return std::nullopt;
  }

 private:
  static bool is_hiragana(char32_t c) { return c >= 0x3041 && c <= 0x3096; }

  bool is_followed(std::size_t end) const {
    const std::u32string_view rest = bases_.substr(end);
    return std::any_of(kNegationFollowers.begin(), kNegationFollowers.end(), [&](std::u32string_view follower) {
      return follower.empty() ? rest.empty() : rest.starts_with(follower);
    });
  }

  std::u32string_view bases_;
};

class Negate final : public SiteDamage {
  std::size_t find_sites() override {
    denials_.clear();
    original().is_japanese() ? find(JapaneseNegation(original())) : find(EnglishNegation(original()));
    return denials_.size();
  }

  // Takes the matches from left to right; those in which a code point joins a character are left alone.
  template <class Negation>
  void find(const Negation& negation) {
    for (std::size_t at = 0; at < original().size();) {
      const std::optional<Match> match = negation.match_at(at);
      const std::size_t end = match ? match->end : at + 1;
      if (match && !original().joins_within(at, end)) denials_.push_back(match->denial);
      at = end;
    }
  }

  void edit(std::size_t site, std::uint64_t, std::uint32_t rank) override {
    const Denial& denial = denials_[site];
    edits().begin(denial.span, rank);
    if (denial.keeps_capital && original().is_capital(denial.span.begin)) {
      edits().add(denial.text.front() - (U'a' - U'A'));
      edits().add(denial.text.substr(1));
    } else {
      edits().add(denial.text);
    }
  }

  std::vector<Denial> denials_;
};

}  // namespace

std::span<const Kind> negation_kinds() {
  static constexpr std::array kKinds{Kind{"negate", make_damage<Negate>}};
  return kKinds;
}

}  // namespace pfgen
