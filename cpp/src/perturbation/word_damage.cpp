// Words deleted, exchanged and written twice.

#include "perturbation/damage.hpp"
#include "perturbation/words.hpp"

namespace pfgen {
namespace {

// Deletes words; in English the white space at one of their sides goes too.
class WordRemoval : public Damage {
 public:
  void read(const Case& text) final {
    original_ = &text.original;
    finder_.find_words(text.original, words_);
    if (!words_.empty()) choose(text.generator(), words_.size());
  }

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
  void write_without(std::size_t k, DamagedText& out) {
    holes_.clear();
    for (std::size_t word = words_.size(); word-- > 0;) {
      if (is_deleted(word, words_.size(), k)) delete_span(words_[word]);
    }
    const std::u32string_view text = original_->view();
    out.reserve(text.size());
    std::size_t at = 0;
    // Not by std::views::reverse, which clang up to 15 cannot compile with the library of GCC.
    for (std::size_t i = holes_.size(); i-- > 0;) {
      out.append(text.substr(at, holes_[i].begin - at));
      at = holes_[i].end;
    }
    out.append(text.substr(at));
  }

  // The span is left of all holes there are, so that these say what stands behind it.
  void delete_span(Span hole) {
    merge(hole);
    if (!original_->is_japanese()) {
      if (hole.begin > 0 && original_->is_space(hole.begin - 1)) {
        do --hole.begin;
        while (hole.begin > 0 && original_->joins(hole.begin));
      } else if (hole.end < original_->size() && original_->is_space(hole.end)) {
        hole.end = static_cast<std::uint32_t>(original_->character_end(hole.end));
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

  const Original* original_ = nullptr;
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

class WordSwap final : public SiteDamage {
  std::size_t find_sites(const Case& text) override {
    finder_.find_words(text.original, words_);
    firsts_.clear();
    for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
      if (text.original.view(words_[i]) == text.original.view(words_[i + 1])) continue;
      firsts_.push_back(static_cast<std::uint32_t>(i));
    }
    return firsts_.size();
  }

  void reorder(const Case&, SiteOrder& order) override { order.keep_apart(firsts_, words_.size()); }

  void edit(const Case& text, std::size_t site, std::uint64_t, std::uint32_t rank) override {
    const Original& original = text.original;
    const Span first = words_[firsts_[site]];
    const Span second = words_[firsts_[site] + 1];
    edits().begin({first.begin, second.end}, rank);
    edits().add(original.view(second));
    edits().add(original.view({first.end, second.begin}));
    edits().add(original.view(first));
  }

  Impossible check(const Degree& degree, std::size_t k) const override {
    return degree.is_absolute && k > order().size() ? Impossible::kTooFewSites : Impossible::kNot;
  }

  WordFinder finder_;
  std::vector<Span> words_;
  std::vector<std::uint32_t> firsts_;  // the number of the first word of each pair
};

class WordRepeat final : public SiteDamage {
  std::size_t find_sites(const Case& text) override {
    finder_.find_words(text.original, words_);
    return words_.size();
  }

  void edit(const Case& text, std::size_t site, std::uint64_t, std::uint32_t rank) override {
    edits().insert_at(words_[site].end, rank);
    if (!text.original.is_japanese()) edits().add(U' ');
    edits().add(text.original.view(words_[site]));
  }

  WordFinder finder_;
  std::vector<Span> words_;
};

}  // namespace

DamagePointer make_word_delete() { return std::make_unique<WordDelete>(); }
DamagePointer make_word_drop() { return std::make_unique<WordDrop>(); }
DamagePointer make_word_swap() { return std::make_unique<WordSwap>(); }
DamagePointer make_word_repeat() { return std::make_unique<WordRepeat>(); }

}  // namespace pfgen
