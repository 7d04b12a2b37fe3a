// Structures of the Arrow C data interface, in which any part may be missing, too small or negative. Buffers have the
// size that lengths and offsets require, because a consumer cannot check it. Any other read out of bounds is a finding.
#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "pfgen/arrow_column.hpp"
#include "pfgen/error.hpp"
#include "target.hpp"

namespace {

using namespace pfgen;

constexpr std::int64_t kMaxRows = 40;
constexpr std::int64_t kDataBytes = 64;
constexpr int kMaxDepth = 70;

// A column made of the input, with all that it points to.
class Maker : private fuzz::ByteReader {
 public:
  using ByteReader::ByteReader;

  std::pair<ArrowSchema*, ArrowArray*> column(std::int64_t n_rows, int depth = 0) {
    static constexpr const char* kFormats[] = {"u",  "U", "vu", "i", "c",    "L",  "+s",
                                               "+s", "n", "g",  "",  "\xFF", "+l", "+L"};
    ArrowSchema& schema = *kept(ArrowSchema{});
    ArrowArray& array = *kept(ArrowArray{});
    schema.format = kFormats[byte() % std::size(kFormats)];
    const std::string_view format = schema.format;
    const std::int64_t index_width = format == "i" ? 4 : format == "c" ? 1 : format == "L" ? 8 : 0;
    array.offset = byte() % 4;
    array.length = n_rows;
    array.null_count = byte() % 3 - 1;
    const std::int64_t n = std::max<std::int64_t>(0, array.offset + array.length);
    std::vector<const void*> buffers{is_rare() ? buffer(n / 8 + 1, 1, 256) : nullptr};
    const bool is_list = format == "+l" || format == "+L";
    if (format == "u" || format == "+l") buffers.push_back(ascending<std::int32_t>(n + 1));
    if (format == "U" || format == "+L") buffers.push_back(ascending<std::int64_t>(n + 1));
    if (format == "vu") buffers.push_back(buffer(4 * n, 4, 80, -2));
    if (index_width > 0) buffers.push_back(buffer(n, index_width, 12));
    if (format[0] == 'u' || format[0] == 'U' || format == "vu") buffers.push_back(buffer(kDataBytes, 1, 256));
    if (format == "vu") buffers.push_back(kept(std::int64_t{kDataBytes}));
    if ((format == "+s" || is_list) && depth < kMaxDepth) {
      const auto [child_schema, child_array] = column(is_list ? kDataBytes : n, depth + 1);
      schema.n_children = array.n_children = 1;
      schema.children = kept(std::vector{child_schema})->data();
      array.children = kept(std::vector{child_array})->data();
    } else if (index_width > 0) {
      std::tie(schema.dictionary, array.dictionary) = column(byte() % 12, depth + 1);
    }
    array.n_buffers = static_cast<std::int64_t>(buffers.size());
    array.buffers = kept(std::move(buffers))->data();
    if (is_rare()) break_one(schema, array);
    return {&schema, &array};
  }

  std::int64_t n_rows() { return byte() % kMaxRows; }

 private:
  bool is_rare() { return byte() % 8 == 1; }

  void break_one(ArrowSchema& schema, ArrowArray& array) {
    constexpr std::int64_t kNumbers[] = {-1, 0, 1, 2, std::numeric_limits<std::int64_t>::min()};
    const std::int64_t number = kNumbers[byte() % std::size(kNumbers)];
    const auto clear_first = [](auto** list) {
      if (list != nullptr) list[0] = nullptr;
    };
    const std::function<void()> faults[] = {
        [&] { schema.format = nullptr; },
        [&] { schema.children = nullptr; },
        [&] { clear_first(schema.children); },
        [&] { schema.n_children = number; },
        [&] { array.children = nullptr; },
        [&] { clear_first(array.children); },
        [&] { array.n_children = number; },
        [&] { array.dictionary = nullptr; },
        [&] { array.buffers = nullptr; },
        [&] { array.n_buffers = std::min(array.n_buffers, number); },
        [&] { array.length = std::min(array.length, number); },
        [&] { array.offset = std::numeric_limits<std::int64_t>::max(); },
        [&] { array.buffers[byte() % static_cast<std::size_t>(array.n_buffers)] = nullptr; },
    };
    faults[byte() % std::size(faults)]();
  }

  template <class Value>
  Value* kept(Value value) {
    const auto owner = std::make_shared<Value>(std::move(value));
    kept_.push_back(owner);
    return owner.get();
  }

  void* memory(std::int64_t n_bytes) {
    return kept(std::make_unique<std::uint8_t[]>(static_cast<std::size_t>(n_bytes)))->get();
  }

  // Numbers of `width` bytes from `least` up, below `below`.
  const void* buffer(std::int64_t n, std::int64_t width, std::int64_t below, std::int64_t least = 0) {
    auto* bytes = static_cast<char*>(memory(n * width));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t number = least + byte() % (below - least);
      std::memcpy(bytes + i * width, &number, static_cast<std::size_t>(width));
    }
    return bytes;
  }

  // Offsets into kDataBytes; now and then one is out of order, or negative.
  template <class Offset>
  const void* ascending(std::int64_t n) {
    auto* offsets = static_cast<Offset*>(memory(n * static_cast<std::int64_t>(sizeof(Offset))));
    Offset next = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      next = static_cast<Offset>(std::min<std::int64_t>(next + byte() % 4, kDataBytes));
      offsets[i] = byte() == 77 ? static_cast<Offset>(-1) : next;
    }
    return offsets;
  }

  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes) {
  Maker maker(std::span(data, n_bytes));
  const std::int64_t n_rows = maker.n_rows();
  const auto [schema, array] = maker.column(n_rows);
  TextLists lists;
  std::vector<TextView>& texts = lists.texts;
  std::size_t n_read = 0;
  try {
    if (n_rows % 2 == 0) {
      read_arrow(*schema, *array, texts);
      n_read = texts.size();
    } else {
      read_arrow_lists(*schema, *array, lists);
      n_read = lists.is_null.size();
      fuzz::require(lists.begins.size() == n_read + 1 && lists.begins.back() == texts.size(), "lists without texts");
    }
  } catch (const ArrowError&) {
    fuzz::count(false);
    return 0;
  }
  fuzz::require(n_read == static_cast<std::size_t>(array->length), "another number of rows");
  std::vector<char32_t> code_points;
  for (const TextView& text : texts) {
    if (!text.is_null) decode(text, kNoError, code_points);
  }
  fuzz::count(n_rows > 0);
  return 0;
}

std::vector<pfgen::fuzz::Input> pfgen::fuzz::seeds() {
  std::mt19937 random(28);
  std::vector<Input> inputs;
  for (std::uint8_t format = 0; format < 14; ++format) {
    Input& input = inputs.emplace_back(600);
    for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random() % 256);
    input[0] = format < 12 ? 20 : 21;  // lists have an odd number of rows
    input[1] = format;
  }
  return inputs;
}
