#include "perturbation/damage.hpp"

namespace pfgen {

Generator Case::generator() const { return Generator(state_of(stream_of(kind, original.view()), seed)); }

void SiteDamage::read(const Case& text) {
  original_ = &text.original;
  edits_.clear();
  n_sites_ = find_sites(text);
  if (n_sites_ == 0) return;
  Generator generator = text.generator();
  order_.shuffle(generator, n_sites_);
  reorder(text, order_);
  std::size_t n_taken = 0;
  for (const Degree& degree : text.degrees) n_taken = std::max(n_taken, n_damaged(degree, n_sites_));
  edit_sites(text, std::min(n_taken, order_.size()));
}

void SiteDamage::edit_sites(const Case& text, std::size_t n_taken) {
  for (std::size_t site = 0; site < n_sites_; ++site) {
    const std::uint32_t rank = order_.rank(site);
    if (rank < n_taken) edit(text, site, order_.choice(site), rank);
  }
}

Impossible SiteDamage::write(const Degree& degree, DamagedText& out) {
  if (n_sites_ == 0) return Impossible::kNoSite;
  const std::size_t k = n_damaged(degree, n_sites_);
  const Impossible reason = check(degree, k);
  if (reason == Impossible::kNot) edits_.apply(*original_, k, out);
  return reason;
}

Impossible check_number(std::size_t k, std::size_t n, std::size_t most) {
  return n < 2 || k > most ? Impossible::kTooFewSites : Impossible::kNot;
}

}  // namespace pfgen
