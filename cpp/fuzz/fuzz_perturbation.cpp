// Reads bytes as texts, donors and degrees. Every kind of damage must stay within bounds, give the same result for a
// text alone and in a batch, and change the text.
#include <algorithm>

#include "makers/perturbed.hpp"
#include "target.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

// Characters that matter to rules. A byte is one of these characters, or begins a code point of any value.
constexpr TextRef kAlphabet =
    U"aAbcnotTwIis'’-.!?\"(“)」。、．\n "
    U"\x3000\x301\x200D\xFE0Fー富士山はがをですないますアガン々ｱﾞ019９Ａａ日目人\0_,\xD800";

class Reader : public fuzz::ByteReader {
 public:
  using ByteReader::ByteReader;

  Text text() {
    Text text;
    for (std::size_t n = byte(); n > 0 && !is_at_end(); --n) {
      const std::uint32_t b = byte();
      text += b < 0xF0 ? kAlphabet[b % kAlphabet.size()]
                       : static_cast<char32_t>((b << 16 | std::uint32_t{byte()} << 8 | byte()) % 0x110000);
    }
    return text;
  }
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes) {
  Reader reader({data, std::min<std::size_t>(n_bytes, 3000)});
  Setting setting;
  setting.language = static_cast<Language>(reader.byte() % 3);
  setting.seed = reader.byte();
  setting.degrees = {{reader.byte() * 4U % 1000 + 1}, {reader.byte() + 1U, true}, {1000}};
  const bool is_collection = reader.byte() % 2 == 0;
  setting.alternative = reader.text();
  std::vector<Text> texts;
  do texts.push_back(reader.text());
  while (!reader.is_at_end() && texts.size() < 8);
  setting.donors = texts;
  if (is_collection) {
    for (std::size_t row = 0; row < texts.size(); ++row) setting.groups.push_back(static_cast<std::uint32_t>(row / 2));
  }
  bool is_any_damaged = false;
  for (const std::string_view kind : perturbation_kinds()) {
    const auto found = outcomes(kind, texts, setting);
    for (std::size_t degree = 0; degree < found.size(); ++degree) {
      for (std::size_t row = 0; row < texts.size(); ++row) {
        const Text* damaged = std::get_if<Text>(&found[degree][row]);
        is_any_damaged |= damaged != nullptr;
        const bool is_same = damaged != nullptr && *damaged == texts[row];
        fuzz::require(!is_same || kind == "identity", "a damaged text is the original");
      }
    }
    if (is_collection) continue;
    Setting alone = setting;
    alone.degrees = {setting.degrees[1]};
    fuzz::require(outcome(kind, texts[0], alone) == found[1][0], "a text alone is damaged in another way");
  }
  fuzz::count(is_any_damaged);
  return 0;
}

std::vector<pfgen::fuzz::Input> pfgen::fuzz::seeds() { return random_seeds(61); }
