// Bytes as a compressed file, and as LZMA2 behind the size of its content (two bytes). Nothing is read or written
// outside of the two pieces of memory, and what is accepted is accepted again, with the same content.
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compression/lzma2.hpp"
#include "pfgen/xz.hpp"
#include "target.hpp"

namespace {

using namespace pfgen;
using namespace std::string_view_literals;
using fuzz::require;

constexpr std::size_t kMaxContent = 1U << 20;
constexpr std::size_t kDictionary = 1U << 12;

using Bytes = std::vector<std::uint8_t>;

bool is_file(const Bytes& stored) {
  const std::optional<std::size_t> n = xz_content_bytes(stored);
  if (!n || *n > kMaxContent) return false;
  Bytes content(*n, 1);
  if (!unpack_xz(stored, content)) return false;
  Bytes again(*n, 2);
  require(unpack_xz(stored, again) && content == again, "a file is unpacked in two ways");
  return true;
}

bool is_lzma2(const Bytes& input) {
  if (input.size() < 2) return false;
  const std::size_t n = input[0] | std::size_t{input[1]} << 8;
  const Bytes stored(input.begin() + 2, input.end());
  Bytes content(n, 1);
  const std::optional<std::size_t> n_read = unpack_lzma2(stored, content, kDictionary);
  if (!n_read) return false;
  require(*n_read <= stored.size() && stored[*n_read - 1] == 0, "the end is not where the marker is");
  Bytes again(n, 2);
  require(unpack_lzma2(stored, again, kDictionary) == n_read && content == again, "LZMA2 is unpacked in two ways");
  return true;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes) {
  // In memory of its own, so that a sanitizer sees a read past its end.
  const Bytes input(data, data + n_bytes);
  const bool is_any = is_file(input);
  fuzz::count(is_lzma2(input) || is_any);
  return 0;
}

std::vector<pfgen::fuzz::Input> pfgen::fuzz::seeds() {
  std::vector<Input> inputs;
  for (const std::string_view bytes : {
           // text
           "\x0f\x01\xe0\x01\x0e\x00\x86\x5d\x00\x73\x2c\x12\x8e\x34\x7d\x7c\x3d\xe9\x8e\xda\x55\x95\x77\xb3\x92\x4b"
           "\x52\xc7\xd4\x40\x88\xbb\x41\x3a\xfe\xdb\x6f\x55\x90\xaf\x19\xb9\xc0\x58\x0d\x61\x21\x5e\x6a\x0a\x09\x90"
           "\x99\x3c\xc7\xc4\x13\x30\xd7\xc6\xbe\x93\xa7\x6e\x46\x04\x6b\xc0\x64\x5f\x6a\xd8\xc8\xe1\xa5\xdf\x4b\xd6"
           "\x3b\xbc\x6b\x97\x87\x55\x8c\x39\x38\x97\x64\x70\x2a\xea\x6d\x9f\xcc\x11\x05\x5f\xe2\x49\x01\xf9\xd4\x01"
           "\x9e\x09\x66\x47\x70\xff\xff\x06\x66\x71\x28\xb0\xfe\x56\x90\x38\xd4\xbc\xcb\x4a\x71\x12\x2a\xf6\xb5\x00"
           "\x51\x1b\x3f\x16\x9c\x46\x89\x61\x66\x69\x83\x97\x5b\x00"sv,
           // other properties
           "\xa0\x00\xe0\x00\x9f\x00\x4b\x13\x00\x73\x2d\x74\xb2\x66\x8c\x41\x06\xca\x70\xa0\xeb\x30\x00\xce\x24\x61"
           "\x5e\xe8\xfd\x3d\x73\xf4\x69\x45\x65\x42\xb6\x2b\xad\x06\x9e\xd2\x8c\xa6\xef\x4d\xe8\x72\x17\x07\x42\x82"
           "\x06\x08\xa3\x62\xf6\x8e\xd5\x00\x7e\x63\xb8\x68\xe5\xb4\xe3\xce\x40\x07\xa6\xd7\x67\x38\xac\x21\xed\x9b"
           "\xab\x56\x80\xc3\xb8\x00\x00"sv,
           // stored
           "\x28\x00\x01\x00\x27\x66\x5c\x6f\x20\x78\x89\xda\x21\x30\x51\x74\x00\xb9\x18\xeb\xf8\xaa\x61\x14\xdf\xb2"
           "\x33\x5c\x01\xfb\xee\x9e\x35\xab\x3c\x0a\xc6\x19\xc6\x29\x37\xbf\xe3\xca\xf5\x00"sv,
           // an .xz file
           "\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\xe0\x00"
           "\x77\x00\x2d\x5d\x00\x73\x2c\x12\x8e\x34\x7d\x7c\x3d\xe9\x8e\xda\x55\x95\x77\xb3\x92\x4b\x52\xc7\xd4\x40"
           "\x88\xbb\x41\x3a\xfe\xdb\x6f\x55\x90\xaf\x19\xb9\xc0\x58\x0d\x61\x21\x5e\x5e\xeb\xbd\xf4\x00\x00\x00\x00"
           "\x00\x00\x57\x9c\xf5\xde\x45\xcb\x1e\x6d\x00\x01\x49\x78\x69\xb8\xe3\x5f\x1f\xb6\xf3\x7d\x01\x00\x00\x00"
           "\x00\x04\x59\x5a"sv,
       }) {
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  return inputs;
}
