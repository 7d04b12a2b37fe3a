// Sentences deleted, exchanged, repeated and put in.
#include "perturbation/damage.hpp"
#include "perturbation/distinct_texts.hpp"
#include "perturbation/donor_tables.hpp"
#include "perturbation/sentences.hpp"

namespace pfgen {
namespace {

class SentenceReorder final : public Damage {
 public:
  void read(const Case& text) override {
    original_ = &text.original;
    find_sentences(text.original, sentences_);
    Generator generator = text.generator();
    order_.shuffle(generator, sentences_.size());
    for (Span& sentence : sentences_) sentence = stripped(text.original, sentence);
  }

  // The chosen sentences change their places in a circle; the white space between them stays.
  Impossible write(const Degree& degree, DamagedText& out) override {
    const std::size_t n = sentences_.size();
    if (n == 0) return Impossible::kNoSite;
    const std::size_t wanted = n_damaged(degree, n);
    if (n < 2 || (degree.is_absolute && wanted > n)) return Impossible::kTooFewSites;
    const std::size_t k = std::min(n, std::max<std::size_t>(2, wanted));
    chosen_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      if (order_.rank(i) < k) chosen_.push_back(sentences_[i]);
    }
    const std::u32string_view text = original_->view();
    std::size_t at = 0;
    for (std::size_t i = 0; i < k; ++i) {
      out.append(text.substr(at, chosen_[i].begin - at));
      out.append(original_->view(chosen_[(i + 1) % k]));
      at = chosen_[i].end;
    }
    out.append(text.substr(at));
    return Impossible::kNot;
  }

 private:
  const Original* original_ = nullptr;
  std::vector<Span> sentences_;  // stripped
  std::vector<Span> chosen_;
  SiteOrder order_;
};

class SentenceDelete final : public Damage {
 public:
  void read(const Case& text) override {
    original_ = &text.original;
    find_sentences(text.original, sentences_);
    Generator generator = text.generator();
    order_.shuffle(generator, sentences_.size());
  }

  Impossible write(const Degree& degree, DamagedText& out) override {
    const std::size_t n = sentences_.size();
    if (n < 2) return n == 0 ? Impossible::kNoSite : Impossible::kTooFewSites;
    const std::size_t k = std::min(n - 1, n_damaged(degree, n));
    for (std::size_t i = 0; i < n; ++i) {
      if (order_.rank(i) >= k) out.append(original_->view(sentences_[i]));
    }
    out.strip();
    return Impossible::kNot;
  }

 private:
  const Original* original_ = nullptr;
  std::vector<Span> sentences_;
  SiteOrder order_;
};

class SentenceRepeat final : public SiteDamage {
  std::size_t find_sites(const Case& text) override {
    find_sentences(text.original, sentences_);
    return sentences_.size();
  }

  void edit(const Case& text, std::size_t site, std::uint64_t, std::uint32_t rank) override {
    const Span sentence = sentences_[site];
    if (text.original.is_japanese()) {
      edits().insert_at(sentence.end, rank);
      edits().add(text.original.view(sentence));
    } else {
      const Span body = stripped(text.original, sentence);
      edits().insert_at(body.end, rank);
      edits().add(U' ');
      edits().add(text.original.view(body));
    }
  }

  std::vector<Span> sentences_;
};

class SentenceInsert final : public SiteDamage {
 public:
  Impossible write(const Degree& degree, DamagedText& out) override {
    const Impossible reason = SiteDamage::write(degree, out);
    return reason == Impossible::kNot && candidates_.size() == 0 ? Impossible::kNoCandidate : reason;
  }

 private:
  std::size_t find_sites(const Case& text) override {
    find_sentences(text.original, sentences_);
    return sentences_.size();
  }

  void edit_sites(const Case& text, std::size_t n_taken) override {
    candidates_ = {};
    if (text.donors == nullptr) return;
    const DistinctTexts& donors = text.donors->sentences(text.original.language());
    own_.clear();
    for (const Span sentence : sentences_) {
      const std::uint32_t place = donors.find(text.original.view(stripped(text.original, sentence)));
      if (place != DistinctTexts::kAbsent) own_.push_back(place);
    }
    candidates_.reset(donors, text.group, own_);
    if (candidates_.size() > 0) SiteDamage::edit_sites(text, n_taken);
  }

  void edit(const Case& text, std::size_t site, std::uint64_t choice, std::uint32_t rank) override {
    Generator generator(choice);
    const std::u32string_view inserted = candidates_[below(generator, candidates_.size())];
    if (text.original.is_japanese()) {
      edits().insert_at(sentences_[site].end, rank);
    } else {
      edits().insert_at(stripped(text.original, sentences_[site]).end, rank);
      edits().add(U' ');
    }
    edits().add(inserted);
  }

  std::vector<Span> sentences_;
  std::vector<std::uint32_t> own_;
  Candidates candidates_;
};

}  // namespace

DamagePointer make_sentence_reorder() { return std::make_unique<SentenceReorder>(); }
DamagePointer make_sentence_delete() { return std::make_unique<SentenceDelete>(); }
DamagePointer make_sentence_repeat() { return std::make_unique<SentenceRepeat>(); }
DamagePointer make_sentence_insert() { return std::make_unique<SentenceInsert>(); }

}  // namespace pfgen
