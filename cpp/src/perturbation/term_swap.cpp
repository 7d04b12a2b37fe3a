// Replaces terms by terms of other texts, everywhere in the text.
#include <array>
#include <limits>

#include "perturbation/damage.hpp"
#include "perturbation/distinct_texts.hpp"
#include "perturbation/donor_tables.hpp"
#include "perturbation/words.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kNScripts = 5;

class TermSwap final : public SiteDamage {
 public:
  Impossible write(const Degree& degree, DamagedText& out) override {
    const Impossible reason = SiteDamage::write(degree, out);
    const bool is_exchanged = n_sites() > 0 && n_damaged(degree, n_sites()) > first_exchanged_;
    return reason != Impossible::kNot || is_exchanged ? reason : Impossible::kNoCandidate;
  }

 private:
  static constexpr std::uint32_t kNoTerm = 0xFFFFFFFF;

  // A text that occurs, and its number among the terms if it is one.
  struct Occurring {
    std::u32string_view text;
    Script script;
    std::uint32_t term = kNoTerm;
  };

  std::size_t find_sites() override {
    first_exchanged_ = std::numeric_limits<std::size_t>::max();
    finder_.find_terms(original(), places_);
    number_places();
    terms_.clear();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      Occurring& occurring = occurring_[numbers_[i]];
      if (!places_[i].is_term || occurring.term != kNoTerm) continue;
      occurring.term = static_cast<std::uint32_t>(terms_.size());
      terms_.push_back(numbers_[i]);
    }
    return terms_.size();
  }

  // Equal texts get equal numbers.
  void number_places() {
    std::size_t n_slots = 16;
    while (n_slots < 2 * places_.size()) n_slots *= 2;
    slots_.assign(n_slots, kNoTerm);
    occurring_.clear();
    numbers_.clear();
    for (const TermPlace& place : places_) {
      const std::u32string_view piece = original().view(place.span);
      std::size_t slot = hash_of(piece) & (n_slots - 1);
      while (slots_[slot] != kNoTerm && occurring_[slots_[slot]].text != piece) slot = (slot + 1) & (n_slots - 1);
      if (slots_[slot] == kNoTerm) {
        slots_[slot] = static_cast<std::uint32_t>(occurring_.size());
        occurring_.push_back({piece, place.script});
      }
      numbers_.push_back(slots_[slot]);
    }
  }

  void edit_sites(const Case& text, std::size_t n_taken) override {
    if (text.donors == nullptr) return;
    find_candidates(text);
    others_.assign(terms_.size(), {});
    for (std::size_t rank = 0; rank < n_taken; ++rank) {
      const std::uint32_t term = order()[rank];
      const Candidates& candidates = candidates_of(occurring_[terms_[term]].script);
      if (candidates.size() == 0) continue;
      Generator generator(order().choice(term));
      others_[term] = candidates[below(generator, candidates.size())];
      first_exchanged_ = std::min(first_exchanged_, rank);
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::uint32_t term = occurring_[numbers_[i]].term;
      if (term == kNoTerm || others_[term].empty()) continue;
      edits().begin(places_[i].span, order().rank(term));
      edits().add(others_[term]);
    }
  }

  void edit(std::size_t, std::uint64_t, std::uint32_t) override {}

  void find_candidates(const Case& text) {
    std::array<bool, kNScripts> is_needed{};
    for (const std::uint32_t number : terms_) is_needed[static_cast<std::size_t>(occurring_[number].script)] = true;
    for (std::size_t script = 0; script < kNScripts; ++script) {
      if (!is_needed[script]) continue;
      own_.clear();
      for (const Occurring& occurring : occurring_) {
        if (occurring.script == static_cast<Script>(script)) own_.push_back(occurring.text);
      }
      candidates_[script].reset(text.donors->terms(static_cast<Script>(script)), text.group, own_);
    }
  }

  const Candidates& candidates_of(Script script) const { return candidates_[static_cast<std::size_t>(script)]; }

  WordFinder finder_;
  std::vector<TermPlace> places_;
  std::vector<std::uint32_t> numbers_;  // of each place, in occurring_
  std::vector<Occurring> occurring_;
  std::vector<std::uint32_t> slots_;  // numbers in occurring_ by hash
  std::vector<std::uint32_t> terms_;  // the sites: numbers in occurring_
  std::vector<std::u32string_view> own_;
  std::array<Candidates, kNScripts> candidates_;
  std::vector<std::u32string_view> others_;  // the replacement of each term; empty: it stays
  std::size_t first_exchanged_ = 0;          // the least rank of a term that does not stay
};

}  // namespace

std::span<const Kind> term_kinds() {
  static constexpr std::array kKinds{Kind{"term_swap", make_damage<TermSwap>}};
  return kKinds;
}

}  // namespace pfgen
