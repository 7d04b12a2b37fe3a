// Characters deleted, exchanged and written twice, and typing errors.
#include "perturbation/damage.hpp"
#include "perturbation/typing_error.hpp"

namespace pfgen {
namespace {

// The sites are the alphanumeric characters.
class CharacterDamage : public SiteDamage {
 protected:
  std::size_t find_sites(const Case& text) override {
    characters_.clear();
    const Original& original = text.original;
    for (std::size_t i = 0; i < original.n_characters(); ++i) {
      const Span character = original.character(i);
      if (original.is_alphanumeric(character.begin)) characters_.push_back(character);
    }
    return characters_.size();
  }

  Span character(std::size_t site) const { return characters_[site]; }

 private:
  std::vector<Span> characters_;
};

class CharDelete final : public CharacterDamage {
  void edit(const Case&, std::size_t site, std::uint64_t, std::uint32_t rank) override {
    edits().begin(character(site), rank);
  }
  Impossible check(const Degree&, std::size_t k) const override { return check_number(k, n_sites(), n_sites() - 1); }
};

class CharTypo final : public CharacterDamage {
  void edit(const Case& text, std::size_t site, std::uint64_t choice, std::uint32_t rank) override {
    edits().begin(character(site), rank);
    add_typing_error(text.original.view(character(site)), Generator(choice), edits());
  }
  Impossible check(const Degree&, std::size_t k) const override { return check_number(k, n_sites(), n_sites()); }
};

class CharRepeat final : public CharacterDamage {
  void edit(const Case& text, std::size_t site, std::uint64_t, std::uint32_t rank) override {
    edits().insert_at(character(site).end, rank);
    edits().add(text.original.view(character(site)));
  }
};

// The sites are pairs of neighbours.
class CharSwap final : public SiteDamage {
  std::size_t find_sites(const Case& text) override {
    firsts_.clear();
    const Original& original = text.original;
    const auto may_move = [&](std::size_t i) { return original.is_alphanumeric(original.character(i).begin); };
    for (std::size_t i = 0; i + 1 < original.n_characters(); ++i) {
      if (!may_move(i) || !may_move(i + 1)) continue;
      if (original.view(original.character(i)) == original.view(original.character(i + 1))) continue;
      firsts_.push_back(static_cast<std::uint32_t>(i));
    }
    return firsts_.size();
  }

  void reorder(const Case& text, SiteOrder& order) override { order.keep_apart(firsts_, text.original.n_characters()); }

  void edit(const Case& text, std::size_t site, std::uint64_t, std::uint32_t rank) override {
    const Original& original = text.original;
    const Span first = original.character(firsts_[site]);
    const Span second = original.character(firsts_[site] + 1);
    edits().begin({first.begin, second.end}, rank);
    edits().add(original.view(second));
    edits().add(original.view(first));
  }

  Impossible check(const Degree& degree, std::size_t k) const override {
    return degree.is_absolute && k > order().size() ? Impossible::kTooFewSites : Impossible::kNot;
  }

  std::vector<std::uint32_t> firsts_;  // the number of the first character of each pair
};

}  // namespace

DamagePointer make_char_delete() { return std::make_unique<CharDelete>(); }
DamagePointer make_char_typo() { return std::make_unique<CharTypo>(); }
DamagePointer make_char_swap() { return std::make_unique<CharSwap>(); }
DamagePointer make_char_repeat() { return std::make_unique<CharRepeat>(); }

}  // namespace pfgen
