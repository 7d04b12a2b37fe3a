#include "perturbation/order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "perturbation/sha256.hpp"
#include "text/utf8.hpp"

namespace pfgen {
namespace {

constexpr std::string_view kPrefix = "discernment";
constexpr std::size_t kMostBytes = 4;  // of a code point
constexpr std::size_t kCodePointsAtATime = 256;

}  // namespace

std::uint64_t stream_of(std::string_view kind, std::u32string_view text) {
  std::array<unsigned char, kMostBytes * kCodePointsAtATime> bytes;
  Sha256 hash;
  for (const std::string_view part : {kPrefix, kind}) {
    unsigned char* end = std::copy(part.begin(), part.end(), bytes.data());
    *end++ = 0;
    hash.add({bytes.data(), end});
  }
  for (std::size_t at = 0; at < text.size(); at += kCodePointsAtATime) {
    unsigned char* end = bytes.data();
    for (const char32_t c : text.substr(at, kCodePointsAtATime)) end = write_utf8(c, end);
    hash.add({bytes.data(), end});
  }
  return hash.head();
}

std::uint64_t state_of(std::uint64_t stream, std::uint64_t seed) {
  return Generator(Generator(stream).draw() ^ seed).draw();
}

void SiteOrder::shuffle(Generator& generator, std::size_t n_sites) {
  order_.resize(n_sites);
  ranks_.resize(n_sites);
  std::iota(order_.begin(), order_.end(), 0U);
  for (std::size_t i = n_sites; i-- > 1;) std::swap(order_[i], order_[below(generator, i + 1)]);
  for (std::size_t i = 0; i < n_sites; ++i) ranks_[order_[i]] = static_cast<std::uint32_t>(i);
  after_ = generator;
}

void SiteOrder::keep_apart(const std::vector<std::uint32_t>& units, std::size_t n_units) {
  is_used_.assign(n_units, false);
  std::size_t n_kept = 0;
  for (const std::uint32_t site : order_) {
    const std::uint32_t unit = units[site];
    if (is_used_[unit] || is_used_[unit + 1]) {
      ranks_[site] = kNeverTaken;
    } else {
      is_used_[unit] = is_used_[unit + 1] = true;
      ranks_[site] = static_cast<std::uint32_t>(n_kept);
      order_[n_kept++] = site;
    }
  }
  order_.resize(n_kept);
}

}  // namespace pfgen
