// Reads string columns through the Arrow PyCapsule protocol: `string`, `large_string`, `string_view`,
// dictionary-encoded ones of these, and a table of one such column; in chunks, sliced, with nulls. Nothing is copied
// but the views.
#include <cstring>
#include <limits>
#include <mutex>
#include <string_view>
#include <utility>

#include "arrow_abi.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

// Owns a struct of the interface: releases it, wherever the producer has not done so.
template <class Struct>
struct Owned : Struct {
  Owned() : Struct{} {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (this->release != nullptr) this->release(this);
  }
  // Takes the content of a struct that belongs to somebody else, as the interface prescribes for moves.
  void take(Struct& other) {
    static_cast<Struct&>(*this) = other;
    other.release = nullptr;
  }
};

bool bit_at(const void* bitmap, std::int64_t i) {
  return (static_cast<const std::uint8_t*>(bitmap)[i / 8] >> (i % 8) & 1) != 0;
}

class Importer {
 public:
  Importer(const std::string& column, std::vector<TextView>& texts) : column_(column), texts_(texts) {}

  void add(const ArrowSchema& schema, const ArrowArray& array) {
    add_column(schema, array, array.offset, array.length);
  }

 private:
  using Format = std::string_view;

  // `offset` and `length` select the rows; `array.offset` is part of `offset`.
  void add_column(const ArrowSchema& schema, const ArrowArray& array, std::int64_t offset, std::int64_t length) {
    const Format format = schema.format;
    if (array.length < 0 || array.offset < 0) throw BadColumn{column_, "an Arrow array of negative length or offset"};
    const std::size_t first = texts_.size();
    texts_.resize(first + static_cast<std::size_t>(length));
    TextView* out = texts_.data() + first;
    if (schema.dictionary != nullptr) {
      add_dictionary(schema, array, offset, length, out);
    } else if (format == "u") {
      read_offsets<std::int32_t>(array, offset, length, out);
    } else if (format == "U") {
      read_offsets<std::int64_t>(array, offset, length, out);
    } else if (format == "vu") {
      read_views(array, offset, length, out);
    } else if (format == "n") {
      for (std::int64_t i = 0; i < length; ++i) out[i].is_null = true;
      return;
    } else if (format == "+s" && schema.n_children == 1) {
      texts_.resize(first);
      const ArrowArray& child = *array.children[0];
      add_column(*schema.children[0], child, child.offset + offset, length);
      out = texts_.data() + first;
    } else {
      throw BadColumn{column_, refusal(schema)};
    }
    mark_nulls(array, offset, length, out);
  }

  static std::string refusal(const ArrowSchema& schema) {
    if (Format(schema.format) == "+s") {
      return "expected one string column, not a table of " + std::to_string(schema.n_children) + "; select one";
    }
    return "expected an Arrow column of strings, not of format '" + std::string(schema.format) + "'";
  }

  static void mark_nulls(const ArrowArray& array, std::int64_t offset, std::int64_t length, TextView* out) {
    if (array.null_count == 0 || array.n_buffers == 0 || array.buffers[0] == nullptr) return;
    for (std::int64_t i = 0; i < length; ++i) {
      if (!bit_at(array.buffers[0], offset + i)) out[i] = {.is_null = true};
    }
  }

  template <class Offset>
  void read_offsets(const ArrowArray& array, std::int64_t offset, std::int64_t length, TextView* out) {
    if (length == 0) return;
    const Offset* ends = static_cast<const Offset*>(array.buffers[1]) + offset;
    const char* bytes = static_cast<const char*>(array.buffers[2]);
    for (std::int64_t i = 0; i < length; ++i) {
      if (ends[i + 1] < ends[i]) throw BadColumn{column_, "an Arrow array whose offsets fall"};
      out[i] = {bytes + ends[i], static_cast<std::size_t>(ends[i + 1] - ends[i])};
    }
  }

  void read_views(const ArrowArray& array, std::int64_t offset, std::int64_t length, TextView* out) {
    constexpr std::int32_t kInlineBytes = 12;
    const char* views = static_cast<const char*>(array.buffers[1]) + 16 * offset;
    for (std::int64_t i = 0; i < length; ++i, views += 16) {
      std::int32_t fields[4];  // length, prefix, buffer, offset
      std::memcpy(fields, views, sizeof fields);
      if (is_null(array, offset + i)) continue;  // the bytes of a null view mean nothing
      if (fields[0] < 0) throw BadColumn{column_, "an Arrow string view of negative length"};
      const char* text = views + 4;
      if (fields[0] > kInlineBytes) {
        // Buffers: validity, views, data..., sizes of the data buffers.
        if (fields[2] < 0 || fields[2] + 3 >= array.n_buffers) {
          throw BadColumn{column_, "an Arrow string view into a buffer that is not there"};
        }
        text = static_cast<const char*>(array.buffers[2 + fields[2]]) + fields[3];
      }
      out[i] = {text, static_cast<std::size_t>(fields[0])};
    }
  }

  static bool is_null(const ArrowArray& array, std::int64_t i) {
    return array.null_count != 0 && array.buffers[0] != nullptr && !bit_at(array.buffers[0], i);
  }

  void add_dictionary(const ArrowSchema& schema, const ArrowArray& array, std::int64_t offset, std::int64_t length,
                      TextView* out) {
    std::vector<TextView> values;
    Importer(column_, values).add(*schema.dictionary, *array.dictionary);
    for (std::int64_t i = 0; i < length; ++i) {
      if (is_null(array, offset + i)) continue;
      const std::uint64_t index = dictionary_index(schema.format, array.buffers[1], offset + i);
      if (index >= values.size()) throw BadColumn{column_, "an Arrow dictionary index without a value"};
      out[i] = values[index];
    }
  }

  std::uint64_t dictionary_index(Format format, const void* indices, std::int64_t i) const {
    switch (format.size() == 1 ? format[0] : '\0') {
      case 'c':
        return static_cast<std::uint64_t>(static_cast<const std::int8_t*>(indices)[i]);
      case 'C':
        return static_cast<const std::uint8_t*>(indices)[i];
      case 's':
        return static_cast<std::uint64_t>(static_cast<const std::int16_t*>(indices)[i]);
      case 'S':
        return static_cast<const std::uint16_t*>(indices)[i];
      case 'i':
        return static_cast<std::uint64_t>(static_cast<const std::int32_t*>(indices)[i]);
      case 'I':
        return static_cast<const std::uint32_t*>(indices)[i];
      case 'l':
        return static_cast<std::uint64_t>(static_cast<const std::int64_t*>(indices)[i]);
      case 'L':
        return static_cast<const std::uint64_t*>(indices)[i];
      default:
        throw BadColumn{column_, "an Arrow dictionary with indices of format '" + std::string(format) + "'"};
    }
  }

  const std::string& column_;
  std::vector<TextView>& texts_;
};

// Takes what a capsule holds, which only one of several threads may.
template <class Struct>
void take_content(const py::handle capsule, const char* name, const std::string& column, Owned<Struct>& into) {
  static std::mutex taking;
  if (!PyCapsule_IsValid(capsule.ptr(), name)) {
    throw BadColumn{column, "expected an Arrow capsule '" + std::string(name) + "' from its exporter"};
  }
  auto& content = *static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
  const std::scoped_lock lock(taking);
  if (content.release == nullptr) throw BadColumn{column, "an Arrow capsule that was read before"};
  into.take(content);
}

void import_stream(const py::object& capsule, const std::string& column, std::vector<TextView>& texts,
                   std::vector<std::shared_ptr<void>>& owners) {
  Owned<ArrowArrayStream> stream;
  take_content(capsule, "arrow_array_stream", column, stream);
  const auto check = [&](int status) {
    if (status == 0) return;
    const char* message = stream.get_last_error(&stream);
    throw BadColumn{column,
                    "the Arrow stream failed: " + std::string(message != nullptr ? message : "no reason given")};
  };
  Owned<ArrowSchema> schema;
  check(stream.get_schema(&stream, &schema));
  for (;;) {
    auto chunk = std::make_shared<Owned<ArrowArray>>();
    check(stream.get_next(&stream, chunk.get()));
    if (chunk->release == nullptr) return;
    Importer(column, texts).add(schema, *chunk);
    owners.push_back(std::move(chunk));
  }
}

}  // namespace

void import_arrow(py::handle source, const std::string& column, std::vector<TextView>& texts,
                  std::vector<std::shared_ptr<void>>& owners) {
  if (py::hasattr(source, "__arrow_c_stream__")) {
    import_stream(source.attr("__arrow_c_stream__")(), column, texts, owners);
    return;
  }
  const py::object capsules = source.attr("__arrow_c_array__")();
  if (!py::isinstance<py::tuple>(capsules) || py::len(capsules) != 2) {
    throw BadColumn{column, "expected two Arrow capsules from __arrow_c_array__"};
  }
  const py::tuple pair = capsules;
  Owned<ArrowSchema> schema;
  take_content(pair[0], "arrow_schema", column, schema);
  auto array = std::make_shared<Owned<ArrowArray>>();
  take_content(pair[1], "arrow_array", column, *array);
  Importer(column, texts).add(schema, *array);
  owners.push_back(std::move(array));
}

}  // namespace pfgen
