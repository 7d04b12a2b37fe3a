// Sentences deleted, exchanged, repeated and inserted.
#include <array>

#include "perturbation/damage.hpp"
#include "perturbation/distinct_texts.hpp"
#include "perturbation/donor_tables.hpp"
#include "perturbation/words.hpp"

namespace pfgen {
namespace {

// The damage of kinds that choose sentences by a random order.
class SentenceDamage : public Damage {
 protected:
  const std::vector<Span>& sentences() const noexcept { return sentences_; }
  const SiteOrder& order() const noexcept { return order_; }

 private:
  void prepare(const Case& text) final {
    find_sentences(original(), sentences_);
    Generator generator = text.generator();
    order_.shuffle(generator, sentences_.size());
  }

  std::vector<Span> sentences_;
  SiteOrder order_;
};

class SentenceReorder final : public SentenceDamage {
  // The chosen sentences change their places in a circle; the white space between them stays.
  Impossible write(const Degree& degree, DamagedText& out) override {
    const std::size_t n = sentences().size();
    if (n == 0) return Impossible::kNoSite;
    const std::size_t wanted = n_damaged(degree, n);
    if (n < 2 || (degree.is_absolute && wanted > n)) return Impossible::kTooFewSites;
    const std::size_t k = std::min(n, std::max<std::size_t>(2, wanted));
    chosen_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      if (order().rank(i) < k) chosen_.push_back(stripped(original(), sentences()[i]));
    }
    const std::u32string_view text = original().view();
    std::size_t at = 0;
    for (std::size_t i = 0; i < k; ++i) {
      out.append(text.substr(at, chosen_[i].begin - at));
      out.append(original().view(chosen_[(i + 1) % k]));
      at = chosen_[i].end;
    }
    out.append(text.substr(at));
    return Impossible::kNot;
  }

  std::vector<Span> chosen_;  // stripped
};

class SentenceDelete final : public SentenceDamage {
  Impossible write(const Degree& degree, DamagedText& out) override {
    const std::size_t n = sentences().size();
    if (n < 2) return n == 0 ? Impossible::kNoSite : Impossible::kTooFewSites;
    const std::size_t k = std::min(n - 1, n_damaged(degree, n));
    for (std::size_t i = 0; i < n; ++i) {
      if (order().rank(i) >= k) out.append(original().view(sentences()[i]));
    }
    out.strip();
    return Impossible::kNot;
  }
};

// The sites are the sentences.
class SentenceSites : public SiteDamage {
 protected:
  const std::vector<Span>& sentences() const noexcept { return sentences_; }

  // Inserts a sentence after the sentence of the site.
  void insert(std::size_t site, std::u32string_view inserted, std::uint32_t rank) {
    const bool is_japanese = original().is_japanese();
    edits().insert_at(is_japanese ? sentences_[site].end : stripped(original(), sentences_[site]).end, rank);
    if (!is_japanese) edits().add(U' ');
    edits().add(inserted);
  }

 private:
  std::size_t find_sites() final {
    find_sentences(original(), sentences_);
    return sentences_.size();
  }

  std::vector<Span> sentences_;
};

class SentenceRepeat final : public SentenceSites {
  void edit(std::size_t site, std::uint64_t, std::uint32_t rank) override {
    const Span sentence = sentences()[site];
    insert(site, original().view(original().is_japanese() ? sentence : stripped(original(), sentence)), rank);
  }
};

class SentenceInsert final : public SentenceSites {
  Impossible write(const Degree& degree, DamagedText& out) override {
    const Impossible reason = SiteDamage::write(degree, out);
    return reason == Impossible::kNot && candidates_.size() == 0 ? Impossible::kNoCandidate : reason;
  }

  void edit_sites(const Case& text, std::size_t n_taken) override {
    candidates_ = {};
    if (text.donors == nullptr) return;
    own_.clear();
    for (const Span sentence : sentences()) own_.push_back(original().view(stripped(original(), sentence)));
    candidates_.reset(text.donors->sentences(original().language()), text.group, own_);
    if (candidates_.size() > 0) SiteDamage::edit_sites(text, n_taken);
  }

  void edit(std::size_t site, std::uint64_t choice, std::uint32_t rank) override {
    Generator generator(choice);
    insert(site, candidates_[below(generator, candidates_.size())], rank);
  }

  std::vector<std::u32string_view> own_;
  Candidates candidates_;
};

}  // namespace

std::span<const Kind> sentence_kinds() {
  static constexpr std::array kKinds{
      Kind{"sentence_reorder", make_damage<SentenceReorder>}, Kind{"sentence_delete", make_damage<SentenceDelete>},
      Kind{"sentence_repeat", make_damage<SentenceRepeat>}, Kind{"sentence_insert", make_damage<SentenceInsert>}};
  return kKinds;
}

}  // namespace pfgen
