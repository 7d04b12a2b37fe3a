#include "perturbation/packed_texts.hpp"

#include <algorithm>
#include <cstring>

namespace pfgen {
namespace {

template <class Unit>
void narrow(std::u32string_view text, unsigned char* out) {
  for (const char32_t c : text) {
    const Unit unit = static_cast<Unit>(c);
    std::memcpy(out, &unit, sizeof unit);
    out += sizeof unit;
  }
}

Encoding narrowest(std::u32string_view text) {
  char32_t all = 0;
  for (const char32_t c : text) all |= c;
  return all < 0x100 ? Encoding::kLatin1 : all < 0x10000 ? Encoding::kUcs2 : Encoding::kUcs4;
}

}  // namespace

void PackedTexts::clear() noexcept {
  bytes_.clear();
  places_.clear();
}

void PackedTexts::add(std::u32string_view text) {
  const Encoding encoding = narrowest(text);
  const std::size_t size = unit_size(encoding);
  const std::size_t begin = (bytes_.size() + size - 1) / size * size;
  bytes_.resize(begin + size * text.size());
  places_.push_back({begin, text.size(), encoding, false});
  unsigned char* out = bytes_.data() + begin;
  switch (encoding) {
    case Encoding::kUcs2:
      narrow<std::uint16_t>(text, out);
      break;
    case Encoding::kUcs4:
      narrow<std::uint32_t>(text, out);
      break;
    default:
      narrow<unsigned char>(text, out);
  }
}

std::unique_ptr<unsigned char[]> PackedTexts::copy(TextView* views) const {
  // Not make_unique, which would write zeros first.
  std::unique_ptr<unsigned char[]> bytes(new unsigned char[bytes_.size()]);
  std::copy(bytes_.begin(), bytes_.end(), bytes.get());
  for (const Place& place : places_)
    *views++ = {bytes.get() + place.begin, place.n_units, place.encoding, place.is_null};
  return bytes;
}

}  // namespace pfgen
