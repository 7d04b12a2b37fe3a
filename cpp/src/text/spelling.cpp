#include "pfgen/spelling.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "system/key_table.hpp"
#include "system/little_endian.hpp"
#include "text/unicode.hpp"
#include "text/vocabulary.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kReadPerToken = 6;  // code points that are decoded at first, for each token that is wanted

// Finds where the tokens of a text begin and end, 64 code points at a time and without a branch for each token: bits of
// a block say which code points are space and which join the code points of the same kind beside them.
template <TokenPattern kPattern>
class Boundaries {
 public:
  // Calls `begins(i)` and, up to `limit` times, `ends(i)`, each in the order of the tokens. More tokens may begin.
  template <class Begins, class Ends>
  static void visit(std::u32string_view text, std::size_t limit, const Begins& begins, const Ends& ends) {
    std::uint64_t visible_before = 0;  // of the code point before the block, as the lowest bit
    std::uint64_t joins_before = 0;
    for (std::size_t first = 0; first <= text.size() && limit > 0; first += 64) {
      const std::size_t n = std::min<std::size_t>(64, text.size() - first);
      std::array<Traits, 64> traits;
      if (n == 64 && is_ascii(&text[first])) {
        for (std::size_t i = 0; i < 64; ++i) traits[i] = ascii_traits(static_cast<std::uint8_t>(text[first + i]));
      } else {
        for (std::size_t i = 0; i < n; ++i) {
          const char32_t c = text[first + i];
          traits[i] = static_cast<Traits>(traits_of(c) | (c == U'_' ? kAlphanumeric : 0));
        }
        std::fill(traits.begin() + n, traits.end(), kSpace);
      }
      const std::uint64_t visible = ~bits_of<kSpace>(traits);
      std::uint64_t joins = bits_of<kAlphanumeric>(traits);
      if constexpr (kPattern == TokenPattern::kWhitespace) joins = visible;
      const std::uint64_t visible_left = visible << 1 | visible_before;
      const std::uint64_t is_apart = ~(joins & (joins << 1 | joins_before));
      for (std::uint64_t bits = visible & is_apart; bits != 0; bits &= bits - 1) begins(first + lowest(bits));
      for (std::uint64_t bits = visible_left & is_apart; bits != 0 && limit > 0; bits &= bits - 1, --limit) {
        ends(first + lowest(bits));
      }
      visible_before = visible >> 63;
      joins_before = joins >> 63;
    }
  }

 private:
  static bool is_ascii(const char32_t* block) {
    char32_t all = 0;
    for (std::size_t i = 0; i < 64; ++i) all |= block[i];
    return all < 0x80;
  }
  // Without branches and tables, so that compilers vectorise it.
  static Traits ascii_traits(std::uint8_t c) {
    const auto is_in = [](int code, std::uint8_t first, std::uint8_t n) {
      return static_cast<int>(static_cast<std::uint8_t>(code - first) < n);
    };
    const int joins = is_in(c | 0x20, 'a', 26) | is_in(c, '0', 10) | is_in(c, '_', 1);
    const int is_space = is_in(c, ' ', 1) | is_in(c, 0x09, 5) | is_in(c, 0x1C, 4);
    return static_cast<Traits>((joins * kAlphanumeric) | (is_space * kSpace));
  }
  // The code points with a trait, as bits.
  template <Traits kTrait>
  static std::uint64_t bits_of(const std::array<Traits, 64>& traits) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 64; i += 8) {
      const std::uint64_t eight = number_at<std::uint64_t>(&traits[i]) / kTrait & 0x0101010101010101U;
      bits |= (eight * 0x0102040810204080U >> 56) << i;  // the lowest bit of each byte, side by side
    }
    return bits;
  }
  static std::size_t lowest(std::uint64_t bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }
};

template <class Begins, class Ends>
void visit_boundaries(TokenPattern pattern, std::u32string_view text, std::size_t limit, const Begins& begins,
                      const Ends& ends) {
  if (pattern == TokenPattern::kWords) {
    Boundaries<TokenPattern::kWords>::visit(text, limit, begins, ends);
  } else {
    Boundaries<TokenPattern::kWhitespace>::visit(text, limit, begins, ends);
  }
}

// A short word of small code points as one number, different for different words; 0 for all other words. `bytes` has
// the code points of the text, 0 for larger ones, and 8 bytes more.
std::uint64_t packed(const std::uint8_t* bytes, std::size_t n) {
  if (n == 0 || n > 8) return 0;
  const std::uint64_t word = number_at<std::uint64_t>(bytes) & ~std::uint64_t{0} >> (64 - 8 * n);
  // A zero among the bytes: of those with the bit below it borrowed.
  constexpr std::uint64_t kLow = 0x0101010101010101U;
  const std::uint64_t filled = word | (n == 8 ? 0 : ~std::uint64_t{0} << 8 * n);
  return ((filled - kLow) & ~filled & kLow << 7) == 0 ? word : 0;
}

// The code points as packed() takes them.
void narrow(std::u32string_view text, std::vector<std::uint8_t>& bytes) {
  bytes.resize(text.size() + 8);
  std::uint8_t* const out = bytes.data();
  for (std::size_t i = 0; i < text.size(); ++i) out[i] = static_cast<std::uint8_t>(text[i] > 0xFF ? 0 : text[i]);
}

}  // namespace

// The numbers of words. Most words of European languages are short and take one look at one place in memory.
class Spelling::Words {
 public:
  explicit Words(const std::vector<std::u32string>& words) {
    std::vector<std::uint8_t> bytes;
    for (std::uint32_t i = 0; i < words.size(); ++i) {
      narrow(words[i], bytes);
      const std::uint64_t key = packed(bytes.data(), words[i].size());
      if (key != 0) short_[key] = i;
      vocabulary_.number_of(words[i]);
    }
  }

  // The number of a word, or kNoToken; `bytes` as packed() takes them.
  TokenId find(std::u32string_view word, const std::uint8_t* bytes) const {
    const std::uint64_t key = packed(bytes, word.size());
    return key != 0 ? short_.find(key) : vocabulary_.find(word);
  }

 private:
  KeyTable<kNoToken> short_;
  Vocabulary vocabulary_;
};

std::uint32_t SpelledText::position(std::size_t end) const {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(begins, end) - begins.begin());
}

Spelling::Spelling(TokenPattern pattern, const std::vector<std::u32string>& words, std::u32string symbols,
                   char32_t unknown)
    : pattern_(pattern),
      symbols_(std::move(symbols)),
      unknown_(unknown),
      words_(std::make_unique<const Words>(words)) {}

Spelling::~Spelling() = default;

void Spelling::spell(std::u32string_view text, std::size_t limit, SpelledText& out) const {
  const std::size_t most = std::min(limit, text.size());
  out.begins.resize(std::min(most + 64, text.size()));  // more tokens may begin in the last block
  out.ends.resize(most);
  std::uint32_t* begin_of_next = out.begins.data();
  std::uint32_t* end_of_next = out.ends.data();
  visit_boundaries(
      pattern_, text, limit, [&](std::size_t i) { *begin_of_next++ = static_cast<std::uint32_t>(i); },
      [&](std::size_t i) { *end_of_next++ = static_cast<std::uint32_t>(i); });
  out.ends.resize(static_cast<std::size_t>(end_of_next - out.ends.data()));
  out.begins.resize(out.ends.size());
  narrow(text, out.bytes);
  out.symbols.resize(out.ends.size());
  for (std::size_t i = 0; i < out.ends.size(); ++i) {
    const std::size_t begin = out.begins[i];
    const TokenId word = words_->find(text.substr(begin, out.ends[i] - begin), out.bytes.data() + begin);
    out.symbols[i] = word == kNoToken ? unknown_ : symbols_[word];
  }
}

// Reads more of a text until `limit` tokens or all are known. `read(n)` reads about n code points, and returns kNoError
// or the byte offset of invalid UTF-8; `units()` are those that were read, `is_whole(n)` whether they are all.
template <class Read, class Units, class IsWhole>
std::size_t Spelling::spell_parts(std::size_t limit, SpelledText& out, const Read& read, const Units& units,
                                  const IsWhole& is_whole) const {
  for (std::size_t n = limit < kNoLimit / kReadPerToken ? kReadPerToken * limit : kNoLimit;; n *= 4) {
    const std::size_t invalid = read(n);
    if (invalid != kNoError) return invalid;
    const std::u32string_view known = units();
    spell(known, limit, out);
    // The last token may go on in the rest of the text.
    if (is_whole(n) || (out.symbols.size() == limit && out.ends.back() < known.size())) return kNoError;
  }
}

std::size_t Spelling::spell(const TextView& text, std::size_t limit, std::vector<char32_t>& code_points,
                            SpelledText& out) const {
  return spell_parts(
      limit, out, [&](std::size_t n) { return decode(text, n, code_points); },
      [&] { return std::u32string_view(code_points.data(), code_points.size()); },
      [&](std::size_t n) { return code_points.size() < n; });
}

std::size_t Spelling::spell(const TextView& text, std::size_t limit, NormalisedText& normalised,
                            SpelledText& out) const {
  return spell_parts(
      limit, out, [&](std::size_t n) { return normalised.read(text, n); },
      [&] { return std::u32string_view(normalised.units().data(), normalised.units().size()); },
      [&](std::size_t n) { return normalised.units().size() <= n; });
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> token_spans(TokenPattern pattern, std::u32string_view text) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> spans;
  std::size_t n_ended = 0;
  visit_boundaries(
      pattern, text, kNoLimit, [&](std::size_t i) { spans.emplace_back(static_cast<std::uint32_t>(i), 0); },
      [&](std::size_t i) { spans[n_ended++].second = static_cast<std::uint32_t>(i); });
  return spans;
}

std::vector<std::u32string> words_of(TokenPattern pattern, const std::vector<std::u32string>& texts) {
  Vocabulary vocabulary;
  for (const std::u32string_view text : texts) {
    for (const auto& [begin, end] : token_spans(pattern, text)) {
      vocabulary.number_of(text.substr(begin, end - begin));
    }
  }
  std::vector<std::u32string> words;
  words.reserve(vocabulary.size());
  for (TokenId word = 0; word < vocabulary.size(); ++word) words.emplace_back(vocabulary[word]);
  return words;
}

}  // namespace pfgen
