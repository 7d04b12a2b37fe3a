// The damage of a kind: reads a text once, then writes it with each degree of damage. One thread uses an object for
// many texts, one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "perturbation/damaged_text.hpp"
#include "perturbation/edits.hpp"
#include "perturbation/order.hpp"
#include "perturbation/original.hpp"
#include "pfgen/perturbation.hpp"

namespace pfgen {

inline constexpr std::uint32_t kNoGroup = 0xFFFFFFFF;

// A text with everything that its damage depends on; valid until its last degree is written.
struct Case {
  const Original& original;
  std::string_view kind;  // its name
  std::uint64_t seed = 0;
  std::span<const Degree> degrees;
  const DonorTables* donors = nullptr;  // null without donors
  std::uint32_t group = kNoGroup;       // of the text
  TextView alternative{.is_null = true};

  // The generator of the random choices, before the first one.
  Generator generator() const;
};

class Damage {
 public:
  Damage() = default;
  Damage(const Damage&) = delete;
  Damage& operator=(const Damage&) = delete;
  virtual ~Damage() = default;

  void read(const Case& text) {
    original_ = &text.original;
    prepare(text);
  }
  // Appends the damaged text to `out`, or says why the damage is impossible. The caller checks whether the result is
  // blank or equals the original.
  virtual Impossible write(const Degree& degree, DamagedText& out) = 0;

 protected:
  // Computes the values that all degrees share.
  virtual void prepare(const Case&) {}
  const Original& original() const noexcept { return *original_; }

 private:
  const Original* original_ = nullptr;
};

// k: how many of `n` sites a degree damages; may be more than `n`.
inline std::size_t n_damaged(const Degree& degree, std::size_t n) {
  if (degree.is_absolute) return degree.amount;
  return std::max<std::size_t>(1, (degree.amount * n + 500) / 1000);
}

// The damage of kinds that edit separate sites; a degree takes the first ones of a random order.
class SiteDamage : public Damage {
 public:
  Impossible write(const Degree& degree, DamagedText& out) override;

 protected:
  // Finds the sites of the text and returns their number.
  virtual std::size_t find_sites() = 0;
  // Changes the order of the sites.
  virtual void reorder(SiteOrder&) {}
  // Begins the edits of a site. `choice` is the state of a generator for this site alone.
  virtual void edit(std::size_t site, std::uint64_t choice, std::uint32_t rank) = 0;
  // Begins the edits of all sites that may be taken, which are the first `n_taken` in the order.
  virtual void edit_sites(const Case& text, std::size_t n_taken);
  // Why k of the sites cannot be damaged.
  virtual Impossible check(const Degree&, std::size_t /*k*/) const { return Impossible::kNot; }

  std::size_t n_sites() const noexcept { return n_sites_; }
  const SiteOrder& order() const noexcept { return order_; }
  Edits& edits() noexcept { return edits_; }

 private:
  void prepare(const Case& text) final;

  std::size_t n_sites_ = 0;
  SiteOrder order_;
  Edits edits_;
};

// Exchanges neighbouring units. The sites are pairs; two pairs that are taken share no unit.
class PairSwap : public SiteDamage {
  virtual void find_units(std::vector<Span>& units) = 0;
  virtual bool may_move(Span) const { return true; }

  std::size_t find_sites() final;
  void reorder(SiteOrder& order) final { order.keep_apart(firsts_, units_.size()); }
  void edit(std::size_t site, std::uint64_t choice, std::uint32_t rank) final;
  Impossible check(const Degree& degree, std::size_t k) const final;

  std::vector<Span> units_;
  std::vector<std::uint32_t> firsts_;  // the number of the first unit of each pair
};

// For kinds that need two sites and damage at most `most` of them.
Impossible check_number(std::size_t k, std::size_t n, std::size_t most);

struct Kind {
  std::string_view name;  // part of the seed
  std::unique_ptr<Damage> (*make)();
};

template <class OfKind>
std::unique_ptr<Damage> make_damage() {
  return std::make_unique<OfKind>();
}

std::span<const Kind> character_kinds();
std::span<const Kind> word_kinds();
std::span<const Kind> phrase_kinds();
std::span<const Kind> term_kinds();
std::span<const Kind> negation_kinds();
std::span<const Kind> sentence_kinds();
std::span<const Kind> whole_text_kinds();

}  // namespace pfgen
