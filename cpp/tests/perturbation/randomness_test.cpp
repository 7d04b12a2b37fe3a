// The hash and the generator that all random choices of damage come from.
#include <algorithm>
#include <set>
#include <string>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "perturbation/order.hpp"
#include "perturbation/sha256.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

std::uint64_t hashed(const std::string& message, std::size_t n_at_a_time) {
  Sha256 hash;
  const std::span bytes(reinterpret_cast<const unsigned char*>(message.data()), message.size());
  for (std::size_t at = 0; at < bytes.size(); at += n_at_a_time) {
    hash.add(bytes.subspan(at, std::min(n_at_a_time, bytes.size() - at)));
  }
  return hash.head();
}

void sha256_is_that_of_the_standard() {
  for (const std::size_t n : {1U, 3U, 63U, 64U, 65U, 1000U}) {
    CHECK(hashed("", n) == 0xE3B0C44298FC1C14);
    CHECK(hashed("abc", n) == 0xBA7816BF8F01CFEA);
    CHECK(hashed("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", n) == 0x248D6A61D20638B8);
    CHECK(hashed(std::string(1'000'000, 'a'), n) == 0xCDC76E5C9914FB92);
  }
}

void the_length_of_a_message_has_its_own_block_where_it_must() {
  std::set<std::uint64_t> hashes;
  for (std::size_t length = 0; length < 200; ++length) {
    const std::uint64_t hash = hashed(std::string(length, '\0'), 7);
    CHECK(hash == hashed(std::string(length, '\0'), 200));
    hashes.insert(hash);
  }
  CHECK(hashes.size() == 200);
}

void numbers_ahead_are_those_that_are_drawn() {
  Generator generator(0);
  CHECK(generator.ahead(0) == 0xE220A8397B1DCDAF);  // the first of SplitMix64
  for (std::uint64_t i = 0; i < 5; ++i) {
    const Generator before = generator;
    CHECK(before.ahead(0) == generator.draw());
    CHECK(before.ahead(3) == generator.ahead(2));
  }
}

void streams_depend_on_kind_and_text() {
  const Text text = U"氷は水に浮く。";
  CHECK(stream_of("loop", text) == stream_of("loop", text));
  CHECK(stream_of("loop", text) != stream_of("negate", text));
  CHECK(stream_of("loop", text) != stream_of("loop", text + U'\0'));
  CHECK(stream_of("loop", U"\xD800") != stream_of("loop", U"\xDFFF"));
  CHECK(state_of(1, 0) != state_of(1, 1));
  // A text that is hashed in several pieces, of code points of each length.
  const std::string prefix = std::string("discernment") + '\0' + "loop" + '\0';
  for (const char32_t c : {U'a', U'é', U'氷', U'𠮷'}) {
    const Text many(1000, c);
    const auto bytes = utf8(many);
    CHECK(stream_of("loop", many) == hashed(prefix + std::string(bytes.begin(), bytes.end()), 64));
  }
}

}  // namespace

int main() {
  sha256_is_that_of_the_standard();
  the_length_of_a_message_has_its_own_block_where_it_must();
  numbers_ahead_are_those_that_are_drawn();
  streams_depend_on_kind_and_text();
  return report("randomness_test");
}
