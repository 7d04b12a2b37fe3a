// Words deleted, exchanged and repeated.
#include <array>

#include "perturbation/damage.hpp"
#include "perturbation/words.hpp"

namespace pfgen {
namespace {

// Deletes words, and in English the white space at one of their sides.
class WordRemoval : public Damage {
 public:
  Impossible write(const Degree& degree, DamagedText& out) final {
    const std::size_t n = words_.size();
    if (n == 0) return Impossible::kNoSite;
    const std::size_t k = n_damaged(degree, n);
    const Impossible reason = check_number(k, n, n - 1);
    if (reason == Impossible::kNot) write_without(k, out);
    return reason;
  }

 protected:
  virtual void choose(Generator generator, std::size_t n_words) = 0;
  virtual bool is_deleted(std::size_t word, std::size_t n_words, std::size_t k) const = 0;

 private:
  void prepare(const Case& text) final {
    finder_.find_words(original(), words_);
    if (!words_.empty()) choose(text.generator(), words_.size());
  }

  void write_without(std::size_t k, DamagedText& out) {
    holes_.clear();
    for (std::size_t word = words_.size(); word-- > 0;) {
      if (is_deleted(word, words_.size(), k)) delete_span(words_[word]);
    }
    const std::u32string_view text = original().view();
    out.reserve(text.size());
    std::size_t at = 0;
    // Not by std::views::reverse, which clang up to 15 cannot compile with the library of GCC.
    for (std::size_t i = holes_.size(); i-- > 0;) {
      out.append(text.substr(at, holes_[i].begin - at));
      at = holes_[i].end;
    }
    out.append(text.substr(at));
  }

  // The span is left of all existing holes, so the holes give the text after it.
  void delete_span(Span hole) {
    merge(hole);
    if (!original().is_japanese()) {
      if (hole.begin > 0 && original().is_space(hole.begin - 1)) {
        do --hole.begin;
        while (hole.begin > 0 && original().joins(hole.begin));
      } else if (hole.end < original().size() && original().is_space(hole.end)) {
        hole.end = static_cast<std::uint32_t>(original().character_end(hole.end));
        merge(hole);
      }
    }
    holes_.push_back(hole);
  }

  void merge(Span& hole) {
    if (holes_.empty() || holes_.back().begin != hole.end) return;
    hole.end = holes_.back().end;
    holes_.pop_back();
  }

  WordFinder finder_;
  std::vector<Span> words_;
  std::vector<Span> holes_;  // from right to left, apart from each other
};

// A run of words, which a longer run contains.
class WordDelete final : public WordRemoval {
  void choose(Generator generator, std::size_t n_words) override { place_ = below(generator, n_words); }
  bool is_deleted(std::size_t word, std::size_t n_words, std::size_t k) const override {
    const std::size_t first = place_ * (n_words - k + 1) / n_words;
    return word >= first && word < first + k;
  }

  std::size_t place_ = 0;
};

class WordDrop final : public WordRemoval {
  void choose(Generator generator, std::size_t n_words) override { order_.shuffle(generator, n_words); }
  bool is_deleted(std::size_t word, std::size_t, std::size_t k) const override { return order_.rank(word) < k; }

  SiteOrder order_;
};

class WordSwap final : public PairSwap {
  void find_units(std::vector<Span>& units) override { finder_.find_words(original(), units); }

  WordFinder finder_;
};

class WordRepeat final : public SiteDamage {
  std::size_t find_sites() override {
    finder_.find_words(original(), words_);
    return words_.size();
  }

  void edit(std::size_t site, std::uint64_t, std::uint32_t rank) override {
    edits().insert_at(words_[site].end, rank);
    if (!original().is_japanese()) edits().add(U' ');
    edits().add(original().view(words_[site]));
  }

  WordFinder finder_;
  std::vector<Span> words_;
};

}  // namespace

std::span<const Kind> word_kinds() {
  static constexpr std::array kKinds{Kind{"word_delete", make_damage<WordDelete>},
                                     Kind{"word_drop", make_damage<WordDrop>}, Kind{"word_swap", make_damage<WordSwap>},
                                     Kind{"word_repeat", make_damage<WordRepeat>}};
  return kKinds;
}

}  // namespace pfgen
