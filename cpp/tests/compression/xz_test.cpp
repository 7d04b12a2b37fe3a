// Compressed files: one that xz wrote, and what is refused.
#include "pfgen/xz.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "makers/check.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;
using namespace std::string_view_literals;

constexpr std::string_view kContent =
    "\u6c34\u306f0\u5ea6\u3067\u51cd\u308b\u3002\u6c34\u306f0\u5ea6\u3067\u51cd\u308b\u3002\n";

constexpr std::string_view kStored =
    "\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\xe0\x00"
    "\x2c\x00\x1f\x5d\x00\x73\x2c\x12\x8e\x34\x7d\x7c\x3d\xe9\x8e\xda\x55\x95\x77\xb3\x92\x4b\x52\xc7\xd4\x40"
    "\x88\xbb\x42\x59\xf2\xaa\xb1\x0e\x00\x00\x00\x00\x71\xeb\x76\xb0\xd6\xdd\x65\x62\x00\x01\x3b\x2d\x66\x06"
    "\xeb\x59\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a"sv;

constexpr std::string_view kCheckedByCrc32 =
    "\xfd\x37\x7a\x58\x5a\x00\x00\x01\x69\x22\xde\x36\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\x01\x00"
    "\x02\x69\x63\x65\x00\x00\x0e\x84\x4f\xcb\x00\x01\x17\x03\x07\x60\x0c\xbc\x90\x42\x99\x0d\x01\x00\x00\x00"
    "\x00\x01\x59\x5a"sv;

// The content; "refused" where there is none.
std::string unpacked(std::string_view text) {
  const std::vector<std::uint8_t> stored(text.begin(), text.end());
  const auto n = xz_content_bytes(stored);
  if (!n) return "refused";
  std::vector<std::uint8_t> content(*n);
  return unpack_xz(stored, content) ? std::string(content.begin(), content.end()) : "refused";
}

void a_file_of_xz_is_unpacked() { CHECK(unpacked(kStored) == kContent); }

void every_changed_bit_and_every_missing_byte_is_found() {
  for (std::size_t at = 0; at < kStored.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed(kStored);
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      CHECK(unpacked(changed) == "refused");
    }
    CHECK(unpacked(kStored.substr(0, at)) == "refused");
  }
}

void what_is_unusual_is_refused() {
  CHECK(unpacked("") == "refused");
  CHECK(unpacked(kCheckedByCrc32) == "refused");
  CHECK(unpacked(std::string(kStored) + std::string(kStored)) == "refused");
  CHECK(unpacked(std::string(kStored) + std::string(4, '\0')) == "refused");
}

}  // namespace

int main() {
  a_file_of_xz_is_unpacked();
  every_changed_bit_and_every_missing_byte_is_found();
  what_is_unusual_is_refused();
  return report("xz_test");
}
