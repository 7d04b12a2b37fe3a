#include "compression/lzma2.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "compression/range_decoder.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kMaxChunk = 1U << 16;  // compressed
constexpr std::size_t kSlack = 64;           // more than one symbol can take
constexpr unsigned kMinLength = 2;
constexpr std::size_t kWord = 8;

template <std::size_t n>
using Probabilities = std::array<Probability, n>;

struct LengthModel {
  Probabilities<2> choice;
  std::array<Probabilities<8>, 16> low;
  std::array<Probabilities<8>, 16> middle;
  Probabilities<256> high;
};

struct Model {
  std::array<Probabilities<16>, 12> is_match;
  Probabilities<12> is_repeat;
  Probabilities<12> is_not_first;
  Probabilities<12> is_not_second;
  Probabilities<12> is_not_third;
  std::array<Probabilities<16>, 12> is_first_long;
  std::array<Probabilities<64>, 4> slots;
  Probabilities<115> distances;
  Probabilities<16> align;
  LengthModel match_length;
  LengthModel repeat_length;
  std::array<Probabilities<0x300>, 16> literals;
};

// One block: what it has so far is what later chunks refer to.
class BlockDecoder {
 public:
  BlockDecoder(std::span<std::uint8_t> content, std::size_t dictionary)
      : begin_(content.data()), out_(begin_), end_(begin_ + content.size()), dictionary_(dictionary) {}

  // Whether all of a chunk is well.
  bool stored(std::span<const std::uint8_t> bytes) {
    if (bytes.size() > room()) return false;
    std::memcpy(out_, bytes.data(), bytes.size());
    out_ += bytes.size();
    return true;
  }

  bool compressed(std::span<const std::uint8_t> bytes, std::size_t n) {
    if (n > room() || bytes.size() < RangeDecoder::kHeadBytes || bytes[0] != 0) return false;
    // With room behind it, so that only whole symbols are checked for being past the end.
    std::memcpy(chunk_.data(), bytes.data(), bytes.size());
    std::memset(chunk_.data() + bytes.size(), 0, kSlack);
    return symbols(chunk_.data() + bytes.size(), out_ + n);
  }

  void reset_dictionary() { begin_ = out_; }

  bool set_properties(unsigned properties) {
    if (properties >= 9 * 5 * 5) return false;
    context_bits_ = properties % 9;
    const unsigned position_bits = properties / 9 % 5;
    if (context_bits_ + position_bits > 4) return false;
    literal_mask_ = (1U << position_bits) - 1;
    position_mask_ = (1U << properties / 45) - 1;
    return true;
  }

  void reset_state() {
    static_assert(sizeof(Model) % sizeof(Probability) == 0);
    std::fill_n(reinterpret_cast<Probability*>(&model_), sizeof(Model) / sizeof(Probability), kEven);
    state_ = 0;
    distances_ = {};
  }

  std::size_t room() const { return static_cast<std::size_t>(end_ - out_); }

 private:
  std::size_t position() const { return static_cast<std::size_t>(out_ - begin_); }

  bool symbols(const std::uint8_t* chunk_end, std::uint8_t* out_end) {
    RangeDecoder decoder(chunk_.data());  // local, so that it stays in registers
    while (out_ < out_end) {
      if (decoder.next() > chunk_end) return false;
      const std::size_t position_state = position() & position_mask_;
      if (!decoder.bit(model_.is_match[state_][position_state])) {
        literal(decoder);
        continue;
      }
      std::size_t length = 0;
      if (!decoder.bit(model_.is_repeat[state_])) {
        length = match(decoder, position_state);
      } else if (repeat(decoder, position_state)) {
        length = length_of(decoder, model_.repeat_length, position_state) + kMinLength;
        state_ = state_ < 7 ? 8 : 11;
      } else {
        length = 1;
        state_ = state_ < 7 ? 9 : 11;
      }
      if (distances_[0] >= std::min(position(), dictionary_)) return false;
      if (length > static_cast<std::size_t>(out_end - out_)) return false;
      copy(length);
    }
    decoder.normalize();
    return decoder.next() == chunk_end && decoder.is_at_end();
  }

  void literal(RangeDecoder& decoder) {
    const unsigned before = out_ == begin_ ? 0U : out_[-1];
    const std::size_t context = ((position() & literal_mask_) << context_bits_) + (before >> (8 - context_bits_));
    Probability* const tree = model_.literals[context].data();
    if (state_ < 7) {
      *out_ = static_cast<std::uint8_t>(decoder.tree<8>(tree));
      state_ = state_ < 4 ? 0 : state_ - 3;
    } else {
      *out_ = like(decoder, tree, position() > distances_[0] ? *(out_ - distances_[0] - 1) : 0U);
      state_ = state_ < 10 ? state_ - 3 : state_ - 6;
    }
    ++out_;
  }

  // A literal after a match: bits are likely to be those of `expected` until the first that is not.
  static std::uint8_t like(RangeDecoder& decoder, Probability* tree, std::uint32_t expected) {
    std::uint32_t node = 1;
    std::uint32_t offset = 0x100;
    for (int i = 0; i < 8; ++i) {
      expected <<= 1;
      const std::uint32_t bit = expected & offset;
      const std::uint32_t is_one = decoder.mask(tree[offset + bit + node]);
      node = 2 * node - is_one;
      offset &= ~(bit ^ is_one);
    }
    return static_cast<std::uint8_t>(node);
  }

  std::size_t match(RangeDecoder& decoder, std::size_t position_state) {
    distances_ = {0, distances_[0], distances_[1], distances_[2]};
    const std::size_t length = length_of(decoder, model_.match_length, position_state);
    state_ = state_ < 7 ? 7 : 10;
    distances_[0] = distance(decoder, std::min<std::size_t>(length, 3));
    return length + kMinLength;
  }

  std::uint32_t distance(RangeDecoder& decoder, std::size_t length) {
    const std::uint32_t slot = decoder.tree<6>(model_.slots[length].data());
    if (slot < 4) return slot;
    const unsigned n_bits = (slot >> 1) - 1;
    const std::uint32_t base = (2 | (slot & 1)) << n_bits;
    if (slot < 14) return base + decoder.reverse_tree(model_.distances.data() + base - slot, n_bits);
    const std::uint32_t high = decoder.direct(n_bits - 4) << 4;
    return base + high + decoder.reverse_tree(model_.align.data(), 4);
  }

  // Takes the distance of an earlier match to the front; false for the last one and a length of one.
  bool repeat(RangeDecoder& decoder, std::size_t position_state) {
    if (!decoder.bit(model_.is_not_first[state_])) return decoder.bit(model_.is_first_long[state_][position_state]);
    std::size_t which = 1;
    if (decoder.bit(model_.is_not_second[state_])) which = decoder.bit(model_.is_not_third[state_]) ? 3 : 2;
    std::rotate(distances_.begin(), distances_.begin() + static_cast<std::ptrdiff_t>(which),
                distances_.begin() + static_cast<std::ptrdiff_t>(which) + 1);
    return true;
  }

  static std::size_t length_of(RangeDecoder& decoder, LengthModel& model, std::size_t position_state) {
    if (!decoder.bit(model.choice[0])) return decoder.tree<3>(model.low[position_state].data());
    if (!decoder.bit(model.choice[1])) return 8 + decoder.tree<3>(model.middle[position_state].data());
    return 16 + decoder.tree<8>(model.high.data());
  }

  void copy(std::size_t n) {
    const std::uint8_t* from = out_ - distances_[0] - 1;
    std::uint8_t* const end = out_ + n;
    if (distances_[0] + 1 >= kWord && room() >= n + kWord) {  // words of which the last may reach beyond
      for (; out_ < end; out_ += kWord, from += kWord) std::memcpy(out_, from, kWord);
    } else {
      while (out_ < end) *out_++ = *from++;
    }
    out_ = end;
  }

  std::uint8_t* begin_;  // of the dictionary
  std::uint8_t* out_;
  std::uint8_t* end_;
  std::size_t dictionary_;
  unsigned context_bits_ = 0;
  std::size_t literal_mask_ = 0;
  std::size_t position_mask_ = 0;
  std::size_t state_ = 0;
  std::array<std::uint32_t, 4> distances_{};
  Model model_;
  std::array<std::uint8_t, kMaxChunk + kSlack> chunk_;
};

std::size_t big_endian(const std::uint8_t* bytes) { return std::size_t{bytes[0]} << 8 | bytes[1]; }

}  // namespace

std::optional<std::size_t> unpack_lzma2(std::span<const std::uint8_t> stored, std::span<std::uint8_t> content,
                                        std::size_t dictionary) {
  const auto block = std::make_unique<BlockDecoder>(content, dictionary);
  std::size_t at = 0;
  // What the next compressed chunk must bring: all at the beginning, less after a chunk of stored bytes.
  unsigned needed = 0xE0;
  while (at < stored.size()) {
    const unsigned control = stored[at];
    if (control == 0) return block->room() == 0 ? std::optional(at + 1) : std::nullopt;
    const bool is_compressed = control >= 0x80;
    const std::size_t n_head = is_compressed ? (control >= 0xC0 ? 6U : 5U) : 3U;
    if (stored.size() - at < n_head || (!is_compressed && control > 2)) return std::nullopt;
    const std::uint8_t* const head = stored.data() + at;
    const std::size_t n = big_endian(head + 1) + 1 + (is_compressed ? (control & 0x1FU) << 16 : 0U);
    const std::size_t n_stored = is_compressed ? big_endian(head + 3) + 1 : n;
    at += n_head;
    if (stored.size() - at < n_stored) return std::nullopt;
    const auto chunk = stored.subspan(at, n_stored);
    at += n_stored;
    if (!is_compressed) {
      if (control != 1 && needed == 0xE0) return std::nullopt;
      if (control == 1) {
        block->reset_dictionary();
        needed = 0xC0;
      }
      if (!block->stored(chunk)) return std::nullopt;
      continue;
    }
    if (control < needed) return std::nullopt;
    needed = 0;
    if (control >= 0xE0) block->reset_dictionary();
    if (control >= 0xC0 && !block->set_properties(head[5])) return std::nullopt;
    if (control >= 0xA0) block->reset_state();
    if (!block->compressed(chunk, n)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace pfgen
