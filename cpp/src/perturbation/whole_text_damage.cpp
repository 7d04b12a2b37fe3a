// Texts exchanged, cut and prolonged, and the controls: changes that should not matter.
#include <array>
#include <stdexcept>

#include "perturbation/damage.hpp"
#include "perturbation/distinct_texts.hpp"
#include "perturbation/donor_tables.hpp"
#include "text/unicode.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kLoopLength = 10;

class AnswerSwap final : public Damage {
  void prepare(const Case& text) override {
    has_other_ = false;
    if (text.donors == nullptr) return;
    const std::u32string_view own = original().view();
    candidates_.reset(text.donors->texts(), text.group, {&own, 1});
    if (candidates_.size() == 0) return;
    Generator generator = text.generator();
    chosen_ = candidates_[below(generator, candidates_.size())];
    has_other_ = true;
  }

  Impossible write(const Degree&, DamagedText& out) override {
    if (!has_other_) return Impossible::kNoCandidate;
    out.append(chosen_);
    return Impossible::kNot;
  }

  Candidates candidates_;
  std::u32string_view chosen_;
  bool has_other_ = false;
};

class WrongEnding final : public Damage {
  void prepare(const Case& text) override {
    is_there_ = !text.alternative.is_null;
    if (is_there_) decode(text.alternative, kNoError, ending_);
  }

  Impossible write(const Degree&, DamagedText& out) override {
    if (!is_there_) return Impossible::kNoCandidate;
    out.append({ending_.data(), ending_.size()});
    return Impossible::kNot;
  }

  bool is_there_ = false;
  std::vector<char32_t> ending_;
};

class Truncate final : public Damage {
  Impossible write(const Degree& degree, DamagedText& out) override {
    const std::size_t n = original().n_characters();
    if (n == 0) return Impossible::kNoSite;
    const std::size_t k = n_damaged(degree, n);
    if (k >= n) return Impossible::kTooFewSites;
    out.append(original().view().substr(0, original().character(n - k).begin));
    return Impossible::kNot;
  }
};

class Loop final : public Damage {
  Impossible write(const Degree& degree, DamagedText& out) override {
    const std::size_t n = original().n_characters();
    if (n == 0) return Impossible::kNoSite;
    const std::size_t first = n - std::min(n, kLoopLength);
    const std::size_t k = n_damaged(degree, n);
    if (k > kMaxPerturbedCodePoints) throw std::length_error("a loop would be too long");
    const auto begin = [&](std::size_t i) { return i == n ? original().size() : original().character(i).begin; };
    const std::u32string_view tail = original().view().substr(begin(first));
    const std::size_t n_tails = k / (n - first);
    const std::size_t rest = begin(first + k % (n - first)) - begin(first);
    out.reserve(original().size() + n_tails * tail.size() + rest);
    out.append(original().view());
    for (std::size_t i = 0; i < n_tails; ++i) out.append(tail);
    out.append(tail.substr(0, rest));
    return Impossible::kNot;
  }
};

class Identity final : public Damage {
  Impossible write(const Degree&, DamagedText& out) override {
    out.append(original().view());
    return Impossible::kNot;
  }
};

class Newline final : public Damage {
  Impossible write(const Degree&, DamagedText& out) override {
    out.append(original().view());
    out.append(U'\n');
    return Impossible::kNot;
  }
};

// Code points exchanged one by one. Those that join a character are seen as its first, and so stay.
class Exchange : public Damage {
  Impossible write(const Degree&, DamagedText& out) override {
    bool is_changed = false;
    const std::u32string_view text = original().view();
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char32_t other = original().joins(at) ? text[at] : exchanged(text[at], at);
      is_changed |= other != text[at];
      out.append(other);
    }
    return is_changed ? Impossible::kNot : Impossible::kNoSite;
  }

 protected:
  virtual char32_t exchanged(char32_t c, std::size_t at) const = 0;
};

class Punctuation final : public Exchange {
  char32_t exchanged(char32_t c, std::size_t at) const override {
    if (original().is_japanese()) return c == U'、' ? U'，' : c == U'。' ? U'．' : c;
    if (c == U'"') return opens(at) ? U'“' : U'”';
    if (c == U'\'') return opens(at) ? U'‘' : U'’';
    return c;
  }

  // Whether a quotation mark at `at` is an opening one.
  bool opens(std::size_t at) const {
    if (at == 0 || original().is_space(at - 1)) return true;
    const char32_t before = original().base(at - 1);
    return before == U'(' || before == U'[' || before == U'{';
  }
};

class Width final : public Exchange {
  char32_t exchanged(char32_t c, std::size_t) const override {
    const bool is_narrow = (c >= U'0' && c <= U'9') || (c >= U'A' && c <= U'Z') || (c >= U'a' && c <= U'z');
    return is_narrow && original().is_japanese() ? c + kWideShift : c;
  }
};

}  // namespace

std::span<const Kind> whole_text_kinds() {
  static constexpr std::array kKinds{
      Kind{"answer_swap", make_damage<AnswerSwap>},  Kind{"wrong_ending", make_damage<WrongEnding>},
      Kind{"truncate", make_damage<Truncate>},       Kind{"loop", make_damage<Loop>},
      Kind{"identity", make_damage<Identity>},       Kind{"newline", make_damage<Newline>},
      Kind{"punctuation", make_damage<Punctuation>}, Kind{"width", make_damage<Width>}};
  return kKinds;
}

}  // namespace pfgen
