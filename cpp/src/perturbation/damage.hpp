// What the rule of a kind does to a text: it is read once, and then written with each degree of damage. An object is
// used for many texts, one after the other, by one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "perturbation/damaged_text.hpp"
#include "perturbation/edits.hpp"
#include "perturbation/order.hpp"
#include "perturbation/original.hpp"
#include "pfgen/perturbation.hpp"

namespace pfgen {

inline constexpr std::uint32_t kNoGroup = 0xFFFFFFFF;

// A text with all that its damage depends on; valid until its last degree is written.
struct Case {
  const Original& original;
  std::string_view kind;  // its name
  std::uint64_t seed = 0;
  std::span<const Degree> degrees;
  const DonorTables* donors = nullptr;  // if there are any
  std::uint32_t group = kNoGroup;       // of the text
  TextView alternative{.is_null = true};

  // In the state in which the random choices begin.
  Generator generator() const;
};

class Damage {
 public:
  Damage() = default;
  Damage(const Damage&) = delete;
  Damage& operator=(const Damage&) = delete;
  virtual ~Damage() = default;

  // Finds what is the same for all degrees.
  virtual void read(const Case& text) = 0;
  // Appends the damaged text to `out`, or says why there is none. That it is the same as the original, or blank, is
  // found by the caller.
  virtual Impossible write(const Degree& degree, DamagedText& out) = 0;
};

// k: how many of `n` sites a degree damages; may be more than `n`.
inline std::size_t n_damaged(const Degree& degree, std::size_t n) {
  if (degree.is_absolute) return degree.amount;
  return std::max<std::size_t>(1, (degree.amount * n + 500) / 1000);
}

// The damage of kinds that edit sites apart from each other, of which the first in a random order are taken.
class SiteDamage : public Damage {
 public:
  void read(const Case& text) final;
  Impossible write(const Degree& degree, DamagedText& out) override;

 protected:
  // Finds the sites of a text and returns their number.
  virtual std::size_t find_sites(const Case& text) = 0;
  // Changes the order that the sites are taken in.
  virtual void reorder(const Case&, SiteOrder&) {}
  // Begins the edits of a site. `choice` is the state of a generator for this site alone.
  virtual void edit(const Case& text, std::size_t site, std::uint64_t choice, std::uint32_t rank) = 0;
  // Begins the edits of all sites that may be taken, which are the first `n_taken` in the order.
  virtual void edit_sites(const Case& text, std::size_t n_taken);
  // Why k of the sites cannot be damaged.
  virtual Impossible check(const Degree&, std::size_t /*k*/) const { return Impossible::kNot; }

  std::size_t n_sites() const noexcept { return n_sites_; }
  const SiteOrder& order() const noexcept { return order_; }
  Edits& edits() noexcept { return edits_; }

 private:
  const Original* original_ = nullptr;
  std::size_t n_sites_ = 0;
  SiteOrder order_;
  Edits edits_;
};

// For kinds that may not take more sites than there are, or not all of them, and need two.
Impossible check_number(std::size_t k, std::size_t n, std::size_t most);

using DamagePointer = std::unique_ptr<Damage>;
DamagePointer make_char_delete();
DamagePointer make_char_typo();
DamagePointer make_char_swap();
DamagePointer make_char_repeat();
DamagePointer make_word_delete();
DamagePointer make_word_drop();
DamagePointer make_word_swap();
DamagePointer make_word_repeat();
DamagePointer make_number_change();
DamagePointer make_term_swap();
DamagePointer make_function_word();
DamagePointer make_negate();
DamagePointer make_sentence_reorder();
DamagePointer make_sentence_delete();
DamagePointer make_sentence_repeat();
DamagePointer make_sentence_insert();
DamagePointer make_answer_swap();
DamagePointer make_wrong_ending();
DamagePointer make_truncate();
DamagePointer make_loop();
DamagePointer make_identity();
DamagePointer make_newline();
DamagePointer make_punctuation();
DamagePointer make_width();

}  // namespace pfgen
