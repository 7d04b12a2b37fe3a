#include "pfgen/arrow_column.hpp"

#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "pfgen/error.hpp"

namespace pfgen {
namespace {

using Format = std::string_view;

constexpr int kMaxDepth = 64;                             // bounds recursion
constexpr std::int64_t kMaxRows = std::int64_t{1} << 48;  // sums of offsets, and their bytes, fit into 64 bits
constexpr std::size_t kMaxShownFormat = 40;

void require(bool holds, const char* problem) {
  if (!holds) throw ArrowError(problem);
}

// Each value is read once, so the checked value is used even if another thread changes the buffer.
template <class Value>
Value value_at(const void* values, std::int64_t i) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(values) + i * static_cast<std::int64_t>(sizeof value), sizeof value);
  return value;
}

const void* buffer(const ArrowArray& array, std::int64_t i) {
  if (i >= array.n_buffers || array.buffers == nullptr || array.buffers[i] == nullptr) {
    throw ArrowError("an Arrow array without buffer " + std::to_string(i));
  }
  return array.buffers[i];
}

// Which rows of an array are not null.
class Validity {
 public:
  explicit Validity(const ArrowArray& array)
      : bits_(array.null_count == 0 || array.n_buffers < 1 || array.buffers == nullptr ? nullptr : array.buffers[0]) {}

  bool is_null(std::int64_t row) const {
    return bits_ != nullptr && (value_at<std::uint8_t>(bits_, row / 8) >> (row % 8) & 1) == 0;
  }
  void mark(std::int64_t offset, std::int64_t length, TextView* out) const {
    for (std::int64_t i = 0; bits_ != nullptr && i < length; ++i) {
      if (is_null(offset + i)) out[i] = {.is_null = true};
    }
  }

 private:
  const void* bits_;
};

Format format_of(const ArrowSchema& schema) {
  require(schema.format != nullptr, "an Arrow schema without a format");
  return schema.format;
}

std::string refusal(const ArrowSchema& schema) {
  const Format format = format_of(schema);
  if (format == "+s") {
    return "expected one string column, not a table of " + std::to_string(schema.n_children) + "; select one";
  }
  return "expected an Arrow column of strings, not of format '" + std::string(format.substr(0, kMaxShownFormat)) + "'";
}

template <class Offset>
void read_offsets(const ArrowArray& array, std::int64_t offset, std::int64_t length, TextView* out) {
  const void* offsets = buffer(array, 1);
  require(array.n_buffers > 2, "an Arrow array without buffer 2");
  const char* bytes = static_cast<const char*>(array.buffers[2]);  // may be null where all texts are empty
  auto begin = value_at<Offset>(offsets, offset);
  require(begin >= 0, "an Arrow array with a negative offset");
  for (std::int64_t i = 0; i < length; ++i) {
    const auto end = value_at<Offset>(offsets, offset + i + 1);
    require(end >= begin, "an Arrow array whose offsets fall");
    require(bytes != nullptr || end == begin, "an Arrow array without buffer 2");
    out[i] = {bytes == nullptr ? nullptr : bytes + begin, static_cast<std::size_t>(end - begin)};
    begin = end;
  }
}

void read_views(const ArrowArray& array, std::int64_t offset, std::int64_t length, TextView* out) {
  struct View {
    std::int32_t length;
    std::int32_t prefix;
    std::int32_t buffer;
    std::int32_t offset;
  };
  constexpr std::int32_t kInlineBytes = 12;
  const char* views = static_cast<const char*>(buffer(array, 1));
  const std::int64_t n_data = array.n_buffers - 3;  // buffers: validity, views, data..., sizes of the data buffers
  require(n_data >= 0, "an Arrow array without the sizes of its buffers");
  const Validity validity(array);
  for (std::int64_t i = 0; i < length; ++i) {
    if (validity.is_null(offset + i)) continue;  // the bytes of a null view mean nothing
    const auto view = value_at<View>(views, offset + i);
    require(view.length >= 0, "an Arrow string view of negative length");
    const char* text = views + (offset + i) * std::int64_t{sizeof view} + sizeof view.length;
    if (view.length > kInlineBytes) {
      require(view.buffer >= 0 && view.buffer < n_data, "an Arrow string view into a buffer that is not there");
      const auto n_bytes = value_at<std::int64_t>(buffer(array, array.n_buffers - 1), view.buffer);
      require(view.offset >= 0 && view.length <= n_bytes - view.offset, "an Arrow string view past its buffer");
      text = static_cast<const char*>(buffer(array, 2 + std::int64_t{view.buffer})) + view.offset;
    }
    out[i] = {text, static_cast<std::size_t>(view.length)};
  }
}

template <class Index>
void read_indices(const ArrowArray& array, std::int64_t offset, std::int64_t length,
                  const std::vector<TextView>& values, TextView* out) {
  const void* indices = buffer(array, 1);
  const Validity validity(array);
  for (std::int64_t i = 0; i < length; ++i) {
    if (validity.is_null(offset + i)) continue;
    const auto index = static_cast<std::uint64_t>(static_cast<std::int64_t>(value_at<Index>(indices, offset + i)));
    require(index < values.size(), "an Arrow dictionary index without a value");
    out[i] = values[index];
  }
}

void read_dictionary(Format format, const ArrowArray& array, std::int64_t offset, std::int64_t length,
                     const std::vector<TextView>& values, TextView* out) {
  const auto read = [&]<class Index>(Index) { read_indices<Index>(array, offset, length, values, out); };
  switch (format.size() == 1 ? format[0] : '\0') {
    case 'c':
      return read(std::int8_t{});
    case 'C':
      return read(std::uint8_t{});
    case 's':
      return read(std::int16_t{});
    case 'S':
      return read(std::uint16_t{});
    case 'i':
      return read(std::int32_t{});
    case 'I':
      return read(std::uint32_t{});
    case 'l':
      return read(std::int64_t{});
    case 'L':
      return read(std::uint64_t{});
    default:
      throw ArrowError("an Arrow dictionary with indices of format '" + std::string(format.substr(0, kMaxShownFormat)) +
                       "'");
  }
}

const ArrowArray& only_child(const ArrowArray& array) {
  require(array.n_children == 1 && array.children != nullptr && array.children[0] != nullptr,
          "an Arrow array without the child that its schema has");
  return *array.children[0];
}

void check_size(const ArrowArray& array) {
  require(array.length >= 0 && array.offset >= 0, "an Arrow array of negative length or offset");
  require(array.length <= kMaxRows && array.offset <= kMaxRows, "an Arrow array of an impossible length or offset");
}

void add_rows(const ArrowSchema& schema, const ArrowArray& array, std::int64_t offset, std::int64_t length,
              std::vector<TextView>& texts, int depth);

void add_array(const ArrowSchema& schema, const ArrowArray& array, std::vector<TextView>& texts, int depth) {
  check_size(array);
  add_rows(schema, array, array.offset, array.length, texts, depth);
}

// `offset` and `length` select the rows; `array.offset` is part of `offset`.
void add_rows(const ArrowSchema& schema, const ArrowArray& array, std::int64_t offset, std::int64_t length,
              std::vector<TextView>& texts, int depth) {
  require(depth < kMaxDepth, "an Arrow column that is nested too deep");
  const Format format = format_of(schema);
  const std::size_t first = texts.size();
  if (format == "+s" && schema.n_children == 1) {
    require(schema.children != nullptr && schema.children[0] != nullptr, "an Arrow schema without its child");
    const ArrowArray& child = only_child(array);
    check_size(child);
    require(child.length >= offset + length, "an Arrow array whose child is too short");
    add_rows(*schema.children[0], child, child.offset + offset, length, texts, depth + 1);
    Validity(array).mark(offset, length, texts.data() + first);
    return;
  }
  std::vector<TextView> values;
  if (schema.dictionary != nullptr) {
    require(array.dictionary != nullptr, "an Arrow array without its dictionary");
    add_array(*schema.dictionary, *array.dictionary, values, depth + 1);
  } else if (format != "u" && format != "U" && format != "vu" && format != "n") {
    throw ArrowError(refusal(schema));
  }
  if (length == 0) return;  // then it needs no buffers
  texts.resize(first + static_cast<std::size_t>(length), {.is_null = true});
  TextView* out = texts.data() + first;
  if (schema.dictionary != nullptr) {
    read_dictionary(format, array, offset, length, values, out);
  } else if (format == "u") {
    read_offsets<std::int32_t>(array, offset, length, out);
  } else if (format == "U") {
    read_offsets<std::int64_t>(array, offset, length, out);
  } else if (format == "vu") {
    read_views(array, offset, length, out);
  }
  if (format == "u" || format == "U") Validity(array).mark(offset, length, out);
}

// `offset` and `length` select the rows of a list column; null rows have null texts.
template <class Offset>
void add_lists_of(const ArrowSchema& schema, const ArrowArray& array, std::int64_t offset, std::int64_t length,
                  TextLists& lists, int depth) {
  if (length == 0) return;
  require(schema.n_children == 1 && schema.children != nullptr && schema.children[0] != nullptr,
          "an Arrow list without its type");
  const ArrowArray& child = only_child(array);
  check_size(child);
  const void* offsets = buffer(array, 1);
  const auto first = value_at<Offset>(offsets, offset);
  require(first >= 0, "an Arrow array with a negative offset");
  const std::uint64_t base = lists.begins.back();
  const Validity validity(array);
  auto begin = first;
  for (std::int64_t i = 0; i < length; ++i) {
    const auto end = value_at<Offset>(offsets, offset + i + 1);
    require(end >= begin, "an Arrow array whose offsets fall");
    lists.begins.push_back(base + static_cast<std::uint64_t>(end - first));
    lists.is_null.push_back(validity.is_null(offset + i));
    begin = end;
  }
  require(child.length >= begin, "an Arrow array whose child is too short");
  add_rows(*schema.children[0], child, child.offset + first, begin - first, lists.texts, depth + 1);
}

void add_lists(const ArrowSchema& schema, const ArrowArray& array, std::int64_t offset, std::int64_t length,
               TextLists& lists, int depth) {
  require(depth < kMaxDepth, "an Arrow column that is nested too deep");
  const Format format = format_of(schema);
  if (format == "+l") return add_lists_of<std::int32_t>(schema, array, offset, length, lists, depth);
  if (format == "+L") return add_lists_of<std::int64_t>(schema, array, offset, length, lists, depth);
  if (format != "+s" || schema.n_children != 1) {
    throw ArrowError("expected an Arrow column of lists of strings, not of format '" +
                     std::string(format.substr(0, kMaxShownFormat)) + "'");
  }
  require(schema.children != nullptr && schema.children[0] != nullptr, "an Arrow schema without its child");
  const ArrowArray& child = only_child(array);
  check_size(child);
  require(child.length >= offset + length, "an Arrow array whose child is too short");
  const std::size_t n_before = lists.is_null.size();
  add_lists(*schema.children[0], child, child.offset + offset, length, lists, depth + 1);
  const Validity validity(array);
  for (std::int64_t i = 0; i < length; ++i) {
    if (validity.is_null(offset + i)) lists.is_null[n_before + static_cast<std::size_t>(i)] = true;
  }
}

// Calls `read()`; too many rows become an ArrowError.
template <class Read>
void read_guarded(const ArrowArray& array, const Read& read) {
  try {
    read();
  } catch (const std::bad_alloc&) {
    throw ArrowError("an Arrow array of " + std::to_string(array.length) + " rows, which do not fit into memory");
  } catch (const std::length_error&) {
    throw ArrowError("an Arrow array of an impossible length or offset");
  }
}

}  // namespace

void read_arrow(const ArrowSchema& schema, const ArrowArray& array, std::vector<TextView>& texts) {
  read_guarded(array, [&] { add_array(schema, array, texts, 0); });
}

void read_arrow_lists(const ArrowSchema& schema, const ArrowArray& array, TextLists& lists) {
  const std::size_t n_before = lists.is_null.size();
  read_guarded(array, [&] {
    check_size(array);
    add_lists(schema, array, array.offset, array.length, lists, 0);
  });
  for (std::size_t row = n_before; row < lists.is_null.size(); ++row) {
    for (std::uint64_t i = lists.begins[row]; lists.is_null[row] && i < lists.begins[row + 1]; ++i) {
      lists.texts[i] = {.is_null = true};
    }
  }
}

}  // namespace pfgen
