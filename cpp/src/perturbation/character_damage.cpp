// Characters deleted, exchanged and repeated, and typing errors.
#include <array>

#include "perturbation/damage.hpp"
#include "perturbation/tables.hpp"
#include "text/unicode.hpp"

namespace pfgen {
namespace {

constexpr char32_t kFirstHiragana = 0x3041;
constexpr char32_t kLastHiragana = 0x3096;
constexpr char32_t kKatakanaShift = 0x60;
constexpr std::size_t kNHiragana = kLastHiragana - kFirstHiragana + 1;

// The characters that may replace a hiragana by mistake; 0 or an empty row if there are no such characters.
struct KanaErrors {
  char32_t voicing = 0;
  char32_t size = 0;
  std::u32string_view row;
};

constexpr std::array<KanaErrors, kNHiragana> kKanaErrors = [] {
  std::array<KanaErrors, kNHiragana> errors{};
  const auto at = [&](char32_t c) -> KanaErrors& { return errors[c - kFirstHiragana]; };
  for (const std::u32string_view pair : kVoicingPairs) {
    at(pair[0]).voicing = pair[1];
    at(pair[1]).voicing = pair[0];
  }
  for (const std::u32string_view pair : kSmallKanaPairs) {
    at(pair[0]).size = pair[1];
    at(pair[1]).size = pair[0];
  }
  for (const std::u32string_view row : kKanaRows) {
    for (const char32_t c : row) at(c).row = row;
  }
  return errors;
}();

struct Lookalike {
  char32_t from;
  char32_t to;
};

constexpr auto kLookalikes = [] {
  std::array<Lookalike, 2 * kLookalikePairs.size()> all{};
  std::size_t n = 0;
  for (const std::u32string_view pair : kLookalikePairs) {
    all[n++] = {pair[0], pair[1]};
    all[n++] = {pair[1], pair[0]};
  }
  std::sort(all.begin(), all.end(), [](Lookalike a, Lookalike b) { return a.from < b.from; });
  return all;
}();

char32_t lookalike(char32_t c) {
  const auto found = std::lower_bound(kLookalikes.begin(), kLookalikes.end(), c,
                                      [](Lookalike entry, char32_t value) { return entry.from < value; });
  return found != kLookalikes.end() && found->from == c ? found->to : 0;
}

bool is_small_letter(char32_t c) { return c >= U'a' && c <= U'z'; }
bool is_capital_letter(char32_t c) { return c >= U'A' && c <= U'Z'; }
bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

char32_t other_of(std::u32string_view all, char32_t without, Generator& generator) {
  const std::size_t own = all.find(without);
  const std::size_t i = below(generator, all.size() - 1);
  return all[i < own ? i : i + 1];
}

// A key of a keyboard for ASCII, of normal or full width.
class Key {
 public:
  explicit Key(char32_t c) {
    const bool is_wide = c >= kFirstWide && c <= kLastWide;
    const char32_t narrow = is_wide ? c - kWideShift : c;
    is_capital_ = is_capital_letter(narrow);
    low_ = is_capital_ ? narrow + (U'a' - U'A') : narrow;
    shift_ = (is_wide ? kWideShift : 0) - (is_capital_ ? U'a' - U'A' : 0);
  }

  bool is_letter() const { return is_small_letter(low_); }
  bool is_number() const { return is_digit(low_); }

  // The key that is hit instead.
  char32_t other(Generator& generator) const {
    if (is_number()) return U'0' + (low_ - U'0' + 1 + static_cast<char32_t>(below(generator, 9))) % 10 + shift_;
    const std::u32string_view near = kKeyboardNeighbours[low_ - U'a'];
    return near[below(generator, near.size())] + shift_;
  }

 private:
  bool is_capital_ = false;
  char32_t low_ = 0;
  char32_t shift_ = 0;  // from the small ASCII letter; may have wrapped around
};

enum class Operation : std::uint8_t {
  kOtherKey,
  kKeyBefore,
  kVoicing,
  kSize,
  kRow,
  kLookalike,
  kDelete,
  kRepeat,
};

// The operations that apply to a character, in the order of the rules.
class Operations {
 public:
  void add_if(bool applies, Operation operation) {
    if (applies) all_[n_++] = operation;
  }
  Operation draw(Generator& generator) const { return all_[below(generator, n_)]; }

 private:
  std::array<Operation, 8> all_{};
  std::size_t n_ = 0;
};

// Adds the text that replaces the character, which may be empty, to the latest edit.
void add_typing_error(std::u32string_view character, Generator generator, Edits& edits) {
  const char32_t base = character.front();
  const Key key(base);
  const bool is_katakana = base >= kFirstHiragana + kKatakanaShift && base <= kLastHiragana + kKatakanaShift;
  const char32_t shift = is_katakana ? kKatakanaShift : 0;
  const bool is_kana = is_katakana || (base >= kFirstHiragana && base <= kLastHiragana);
  const KanaErrors kana = is_kana ? kKanaErrors[base - shift - kFirstHiragana] : KanaErrors{};
  const char32_t alike = lookalike(base);

  Operations operations;
  operations.add_if(key.is_letter() || key.is_number(), Operation::kOtherKey);
  operations.add_if(key.is_letter(), Operation::kKeyBefore);
  operations.add_if(kana.voicing != 0, Operation::kVoicing);
  operations.add_if(kana.size != 0, Operation::kSize);
  operations.add_if(!kana.row.empty(), Operation::kRow);
  operations.add_if(alike != 0, Operation::kLookalike);
  operations.add_if(true, Operation::kDelete);
  operations.add_if(true, Operation::kRepeat);

  switch (operations.draw(generator)) {
    case Operation::kOtherKey:
      edits.add(key.other(generator));
      edits.add(character.substr(1));
      break;
    case Operation::kKeyBefore:
      edits.add(key.other(generator));
      edits.add(character);
      break;
    case Operation::kVoicing:
      edits.add(kana.voicing + shift);
      break;
    case Operation::kSize:
      edits.add(kana.size + shift);
      break;
    case Operation::kRow:
      edits.add(other_of(kana.row, base - shift, generator) + shift);
      break;
    case Operation::kLookalike:
      edits.add(alike);
      break;
    case Operation::kDelete:
      break;
    case Operation::kRepeat:
      edits.add(character);
      edits.add(character);
      break;
  }
}

// The sites are the alphanumeric characters.
class CharacterDamage : public SiteDamage {
 protected:
  std::size_t find_sites() override {
    characters_.clear();
    for (std::size_t i = 0; i < original().n_characters(); ++i) {
      const Span character = original().character(i);
      if (original().is_alphanumeric(character.begin)) characters_.push_back(character);
    }
    return characters_.size();
  }

  Span character(std::size_t site) const { return characters_[site]; }

 private:
  std::vector<Span> characters_;
};

class CharDelete final : public CharacterDamage {
  void edit(std::size_t site, std::uint64_t, std::uint32_t rank) override { edits().begin(character(site), rank); }
  Impossible check(const Degree&, std::size_t k) const override { return check_number(k, n_sites(), n_sites() - 1); }
};

class CharTypo final : public CharacterDamage {
  void edit(std::size_t site, std::uint64_t choice, std::uint32_t rank) override {
    edits().begin(character(site), rank);
    add_typing_error(original().view(character(site)), Generator(choice), edits());
  }
  Impossible check(const Degree&, std::size_t k) const override { return check_number(k, n_sites(), n_sites()); }
};

class CharRepeat final : public CharacterDamage {
  void edit(std::size_t site, std::uint64_t, std::uint32_t rank) override {
    edits().insert_at(character(site).end, rank);
    edits().add(original().view(character(site)));
  }
};

class CharSwap final : public PairSwap {
  void find_units(std::vector<Span>& units) override {
    units.clear();
    for (std::size_t i = 0; i < original().n_characters(); ++i) units.push_back(original().character(i));
  }
  bool may_move(Span character) const override { return original().is_alphanumeric(character.begin); }
};

}  // namespace

std::span<const Kind> character_kinds() {
  static constexpr std::array kKinds{Kind{"char_delete", make_damage<CharDelete>},
                                     Kind{"char_typo", make_damage<CharTypo>}, Kind{"char_swap", make_damage<CharSwap>},
                                     Kind{"char_repeat", make_damage<CharRepeat>}};
  return kKinds;
}

}  // namespace pfgen
