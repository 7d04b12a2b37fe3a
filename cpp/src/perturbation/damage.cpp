#include "perturbation/damage.hpp"

namespace pfgen {

Generator Case::generator() const { return Generator(state_of(stream_of(kind, original.view()), seed)); }

void SiteDamage::prepare(const Case& text) {
  edits_.clear();
  n_sites_ = find_sites();
  if (n_sites_ == 0) return;
  Generator generator = text.generator();
  order_.shuffle(generator, n_sites_);
  reorder(order_);
  std::size_t n_taken = 0;
  for (const Degree& degree : text.degrees) n_taken = std::max(n_taken, n_damaged(degree, n_sites_));
  edit_sites(text, std::min(n_taken, order_.size()));
}

void SiteDamage::edit_sites(const Case&, std::size_t n_taken) {
  for (std::size_t site = 0; site < n_sites_; ++site) {
    const std::uint32_t rank = order_.rank(site);
    if (rank < n_taken) edit(site, order_.choice(site), rank);
  }
}

Impossible SiteDamage::write(const Degree& degree, DamagedText& out) {
  if (n_sites_ == 0) return Impossible::kNoSite;
  const std::size_t k = n_damaged(degree, n_sites_);
  const Impossible reason = check(degree, k);
  if (reason == Impossible::kNot) edits_.apply(original(), k, out);
  return reason;
}

std::size_t PairSwap::find_sites() {
  find_units(units_);
  firsts_.clear();
  for (std::size_t i = 0; i + 1 < units_.size(); ++i) {
    const Span first = units_[i], second = units_[i + 1];
    if (!may_move(first) || !may_move(second) || original().view(first) == original().view(second)) continue;
    firsts_.push_back(static_cast<std::uint32_t>(i));
  }
  return firsts_.size();
}

void PairSwap::edit(std::size_t site, std::uint64_t, std::uint32_t rank) {
  const Span first = units_[firsts_[site]], second = units_[firsts_[site] + 1];
  edits().begin({first.begin, second.end}, rank);
  edits().add(original().view(second));
  edits().add(original().view({first.end, second.begin}));
  edits().add(original().view(first));
}

Impossible PairSwap::check(const Degree& degree, std::size_t k) const {
  return degree.is_absolute && k > order().size() ? Impossible::kTooFewSites : Impossible::kNot;
}

Impossible check_number(std::size_t k, std::size_t n, std::size_t most) {
  return n < 2 || k > most ? Impossible::kTooFewSites : Impossible::kNot;
}

}  // namespace pfgen
