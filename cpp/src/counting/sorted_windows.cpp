#include "counting/sorted_windows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <string>

#include "pfgen/error.hpp"
#include "system/prefetch.hpp"

namespace pfgen {
namespace {

constexpr int kDigitBits = 11;
constexpr std::size_t kNoPosition = std::numeric_limits<std::size_t>::max();

struct KeyedPlace {
  std::uint64_t key;
  std::uint32_t row;
  std::uint32_t at;
};

constexpr std::size_t kRandomAhead = 16;

// Digit by digit, from the lowest; keeps the order of equal keys. `spare` is memory to work with.
void sort_by_key(std::vector<KeyedPlace>& places, int n_bits, std::vector<KeyedPlace>& spare) {
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  const auto digit_of = [](const KeyedPlace& place, std::size_t pass) {
    return place.key >> (pass * kDigitBits) & (kDigits - 1);
  };
  std::vector<std::array<std::size_t, kDigits>> ends(static_cast<std::size_t>(n_bits + kDigitBits - 1) / kDigitBits);
  for (const KeyedPlace& place : places) {
    prefetch_scan(&place);
    for (std::size_t pass = 0; pass < ends.size(); ++pass) ++ends[pass][digit_of(place, pass)];
  }
  spare.resize(places.size());
  for (std::size_t pass = 0; pass < ends.size(); ++pass) {
    auto& end = ends[pass];
    std::exclusive_scan(end.begin(), end.end(), end.begin(), std::size_t{0});
    for (const KeyedPlace& place : places) {
      prefetch_scan(&place);
      spare[end[digit_of(place, pass)]++] = place;
    }
    places.swap(spare);
  }
}

// All places, sorted by their windows of `n` symbols; keys are equal just where these are. A window twice as long is a
// pair of windows, of which numbers are known by then; so few passes reach any length.
std::vector<KeyedPlace> sort_places(const SymbolTexts& texts, std::size_t n) {
  const int bits = std::max(1, static_cast<int>(std::bit_width(texts.n_distinct)));
  std::size_t covered = std::min(n, 64 / static_cast<std::size_t>(bits));
  std::vector<KeyedPlace> places(texts.symbols.size());
  for (std::size_t row = 0; row < texts.size(); ++row) {
    std::uint64_t key = 0;
    const auto whole = bits * static_cast<int>(covered);
    for (std::size_t i = texts.begin[row + 1]; i-- > texts.begin[row];) {
      key = key >> bits | std::uint64_t{texts.symbols[i]} << (whole - bits);
      places[i] = {key, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(i)};
    }
  }
  std::vector<KeyedPlace> spare;
  sort_by_key(places, bits * static_cast<int>(covered), spare);
  std::vector<std::uint32_t> numbers(covered < n ? places.size() : 0);
  while (covered < n) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      prefetch_scan(&places[i]);
      if (i + kRandomAhead < places.size()) prefetch(&numbers[places[i + kRandomAhead].at]);
      number += i == 0 || places[i].key != places[i - 1].key;
      numbers[places[i].at] = number;
    }
    const std::size_t further = std::min(covered, n - covered);
    const auto number_bits = static_cast<int>(std::bit_width(number));
    for (std::size_t row = 0; row < texts.size(); ++row) {
      for (std::size_t i = texts.begin[row]; i < texts.begin[row + 1]; ++i) {
        const std::uint64_t second = i + further < texts.begin[row + 1] ? numbers[i + further] : 0;
        places[i] = {std::uint64_t{numbers[i]} << number_bits | second, static_cast<std::uint32_t>(row),
                     static_cast<std::uint32_t>(i)};
      }
    }
    sort_by_key(places, 2 * number_bits, spare);
    covered += further;
  }
  return places;
}

}  // namespace

SortedWindows::SortedWindows(const SymbolTexts& texts, std::size_t max_order) : max_order_(max_order) {
  if (max_order < 1 || max_order > kLongestNgram) {
    throw CompileError("max_order: expected 1 to " + std::to_string(kLongestNgram));
  }
  const std::vector<KeyedPlace> places = sort_places(texts, max_order);
  const auto length_of = [&](const KeyedPlace& place) {
    return std::min(max_order, texts.begin[place.row + 1] - place.at);
  };
  const auto shared_by = [&](const KeyedPlace& a, const KeyedPlace& b) {
    const std::size_t most = std::min(length_of(a), length_of(b));
    if (a.key == b.key) return most;
    std::size_t n = 0;
    while (n < most && texts.symbols[a.at + n] == texts.symbols[b.at + n]) ++n;
    return n;
  };
  windows_.resize(places.size());
  std::vector<std::size_t> last_of_row(texts.size(), kNoPosition);
  std::array<std::size_t, kLongestNgram + 1> begin{};  // of the windows with the first symbols of this one, by order
  for (std::size_t i = 0; i < places.size(); ++i) {
    const KeyedPlace& place = places[i];
    prefetch_scan(&place);
    if (i + kRandomAhead < places.size()) {
      prefetch(&texts.symbols[places[i + kRandomAhead].at]);
      prefetch(&last_of_row[places[i + kRandomAhead].row]);
    }
    const std::size_t length = length_of(place);
    const std::size_t shared = i == 0 ? 0 : shared_by(places[i - 1], place);
    std::fill(begin.begin() + static_cast<std::ptrdiff_t>(shared) + 1,
              begin.begin() + static_cast<std::ptrdiff_t>(length) + 1, i);
    std::size_t& last = last_of_row[place.row];
    std::size_t repeated = last == kNoPosition ? 0 : shared;
    while (repeated > 0 && begin[repeated] > last) --repeated;
    last = i;
    windows_[i] = {place.row, static_cast<std::uint32_t>(place.at - texts.begin[place.row]),
                   static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(shared),
                   static_cast<std::uint8_t>(repeated)};
  }
}

std::vector<std::size_t> SortedWindows::cut(std::size_t n) const {
  std::vector<std::size_t> cuts{0};
  for (std::size_t part = 1; part < n; ++part) {
    std::size_t at = std::max(cuts.back(), size() * part / n);
    while (at < size() && windows_[at].shared > 0) ++at;
    cuts.push_back(at);
  }
  cuts.push_back(size());
  return cuts;
}

}  // namespace pfgen
