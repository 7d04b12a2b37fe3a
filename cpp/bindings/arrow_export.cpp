#include "arrow_export.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>
#include <utility>

#include "gil.hpp"
#include "pfgen/arrow_column.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

// The data of all exported structs, which share it, so that each may be released separately.
struct ExportedTable {
  ~ExportedTable() {
    if (Py_IsInitialized() == 0) {  // then nothing may be freed
      for (py::object& array : arrays) array.release();
      return;
    }
    const GilHeld gil;
    arrays.clear();
  }
  std::int64_t n_rows = 0;
  bool has_codes = false;                           // whether the first column is dictionary-encoded
  std::vector<std::string> names;                   // of all columns
  std::vector<const void*> data;                    // one buffer per column
  std::vector<std::vector<std::uint8_t>> validity;  // empty where a column has no NaN
  std::vector<std::int32_t> value_offsets;          // of the dictionary
  std::string value_bytes;
  std::vector<py::object> arrays;
};
using SharedExport = std::shared_ptr<const ExportedTable>;

// The memory to which an exported struct (a schema or an array) points.
template <class Struct>
struct Node {
  SharedExport table;
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<Struct>> owned;
  std::vector<Struct*> children;
};

// Releases children that no consumer has taken, then the struct's own node.
template <class Struct>
void release(Struct* self) {
  auto* node = static_cast<Node<Struct>*>(self->private_data);
  for (auto& child : node->owned) {
    if (child->release != nullptr) child->release(child.get());
  }
  delete node;
  self->release = nullptr;
}

// Empties a struct and gives it a node.
template <class Struct>
Node<Struct>& begin(Struct& out, const SharedExport& table) {
  out = {};
  auto* node = new Node<Struct>{table, {}, {}, {}};
  out.private_data = node;
  out.release = release<Struct>;
  return *node;
}

void fill(ArrowSchema& schema, const SharedExport& table, const char* format, const char* name) {
  begin(schema, table);
  schema.format = format;
  schema.name = name;
  schema.flags = kArrowFlagNullable;
}

void fill(ArrowArray& array, const SharedExport& table, std::int64_t length, std::vector<const void*> buffers) {
  auto& kept = begin(array, table).buffers = std::move(buffers);
  array.length = length;
  array.n_buffers = static_cast<std::int64_t>(kept.size());
  array.buffers = kept.data();
}

void fill_table(ArrowSchema& schema, const SharedExport& table) { fill(schema, table, "+s", ""); }
void fill_table(ArrowArray& array, const SharedExport& table) { fill(array, table, table->n_rows, {nullptr}); }

bool is_dictionary(const SharedExport& table, std::size_t column) { return table->has_codes && column == 0; }

void fill_column(ArrowSchema& schema, const SharedExport& table, std::size_t column) {
  fill(schema, table, is_dictionary(table, column) ? "i" : "g", table->names[column].c_str());
}
void fill_column(ArrowArray& array, const SharedExport& table, std::size_t column) {
  const auto& validity = table->validity[column];
  fill(array, table, table->n_rows, {validity.empty() ? nullptr : validity.data(), table->data[column]});
  array.null_count = validity.empty() ? 0 : -1;
}

void fill_dictionary(ArrowSchema& schema, const SharedExport& table) { fill(schema, table, "u", ""); }
void fill_dictionary(ArrowArray& array, const SharedExport& table) {
  const auto n_values = static_cast<std::int64_t>(table->value_offsets.size()) - 1;
  fill(array, table, n_values, {nullptr, table->value_offsets.data(), table->value_bytes.data()});
}

// Fills a schema or an array with the table.
template <class Struct>
void export_table(const SharedExport& table, Struct& out) {
  const auto add_to = [](Struct& parent) -> Struct& {
    return *static_cast<Node<Struct>*>(parent.private_data)->owned.emplace_back(std::make_unique<Struct>());
  };
  fill_table(out, table);
  auto& children = static_cast<Node<Struct>*>(out.private_data)->children;
  for (std::size_t column = 0; column < table->names.size(); ++column) {
    Struct& child = *children.emplace_back(&add_to(out));
    fill_column(child, table, column);
    if (!is_dictionary(table, column)) continue;
    child.dictionary = &add_to(child);
    fill_dictionary(*child.dictionary, table);
  }
  out.n_children = static_cast<std::int64_t>(children.size());
  out.children = children.data();
}

struct StreamNode {
  SharedExport table;
  bool is_done = false;
};

// For callbacks of the stream, which must not throw. A consumer releases only arrays that it has received.
template <class Struct>
int export_guarded(const SharedExport& table, Struct& out) {
  out.release = nullptr;
  try {
    export_table(table, out);
    return 0;
  } catch (...) {
    if (out.release != nullptr) out.release(&out);
    return ENOMEM;
  }
}

int get_schema(ArrowArrayStream* self, ArrowSchema* out) {
  return export_guarded(static_cast<StreamNode*>(self->private_data)->table, *out);
}

int get_next(ArrowArrayStream* self, ArrowArray* out) {
  auto* node = static_cast<StreamNode*>(self->private_data);
  *out = {};
  return std::exchange(node->is_done, true) ? 0 : export_guarded(node->table, *out);
}

const char* get_last_error(ArrowArrayStream*) { return "out of memory"; }

void release_stream(ArrowArrayStream* self) {
  delete static_cast<StreamNode*>(self->private_data);
  self->release = nullptr;
}

std::vector<std::uint8_t> validity_of(const Column& column) {
  const double* values = column.data();
  const auto n = static_cast<std::size_t>(column.size());
  if (std::none_of(values, values + n, [](double value) { return std::isnan(value); })) return {};
  std::vector<std::uint8_t> bits((n + 7) / 8);
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isnan(values[i])) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1U << (i % 8));
  }
  return bits;
}

}  // namespace

py::capsule export_stream(std::size_t n_rows, const std::optional<CodedColumn>& coded,
                          const std::vector<std::string>& names, const std::vector<Column>& columns) {
  auto table = std::make_shared<ExportedTable>();
  table->n_rows = static_cast<std::int64_t>(n_rows);
  table->value_offsets = {0};
  if (coded) {
    const auto& [name, codes, values] = *coded;
    table->has_codes = true;
    table->names = {name};
    table->data = {codes.data()};
    table->validity.resize(1);
    table->arrays = {codes};
    for (const std::string& value : values) {
      table->value_bytes += value;
      table->value_offsets.push_back(static_cast<std::int32_t>(table->value_bytes.size()));
    }
  }
  table->names.insert(table->names.end(), names.begin(), names.end());
  for (const Column& column : columns) {
    table->data.push_back(column.data());
    table->validity.push_back(validity_of(column));
    table->arrays.push_back(column);
  }

  auto stream = std::make_unique<ArrowArrayStream>();
  *stream = {get_schema, get_next, get_last_error, release_stream, new StreamNode{std::move(table)}};
  return py::capsule(stream.release(), "arrow_array_stream", [](PyObject* capsule) {
    auto* unread = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
    if (unread->release != nullptr) unread->release(unread);
    delete unread;
  });
}

}  // namespace pfgen
