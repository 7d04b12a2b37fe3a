#include "arrow_export.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>
#include <utility>

#include "gil.hpp"
#include "pfgen/arrow_abi.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

// What the exported structs point into; shared by all of them, so that each may be released on its own.
struct ExportedTable {
  ~ExportedTable() {
    if (Py_IsInitialized() == 0) {  // then nothing may be freed, nor need be
      for (py::object& array : arrays) array.release();
      return;
    }
    const GilHeld gil;
    arrays.clear();
  }
  std::int64_t n_rows = 0;
  std::vector<std::string> names;                   // of all columns; the first is the dictionary-encoded one
  std::vector<const void*> data;                    // one buffer per column
  std::vector<std::vector<std::uint8_t>> validity;  // empty where a column has no NaN
  std::vector<std::int32_t> value_offsets;          // of the dictionary
  std::string value_bytes;
  std::vector<py::object> arrays;
};
using SharedExport = std::shared_ptr<const ExportedTable>;

struct SchemaNode {
  SharedExport table;
  std::vector<std::unique_ptr<ArrowSchema>> owned;
  std::vector<ArrowSchema*> children;
};

struct ArrayNode {
  SharedExport table;
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<ArrowArray>> owned;
  std::vector<ArrowArray*> children;
};

// Releases children that nobody has taken, then the struct's own node.
template <class Node, class Struct>
void release(Struct* self) {
  auto* node = static_cast<Node*>(self->private_data);
  for (auto& child : node->owned) {
    if (child->release != nullptr) child->release(child.get());
  }
  delete node;
  self->release = nullptr;
}

std::unique_ptr<SchemaNode> fill_schema(ArrowSchema& schema, const SharedExport& table, const char* format,
                                        const char* name) {
  auto node = std::make_unique<SchemaNode>();
  node->table = table;
  schema = {};
  schema.format = format;
  schema.name = name;
  schema.flags = kArrowFlagNullable;
  schema.release = release<SchemaNode, ArrowSchema>;
  return node;
}

std::unique_ptr<ArrayNode> fill_array(ArrowArray& array, const SharedExport& table, std::int64_t length,
                                      std::vector<const void*> buffers) {
  auto node = std::make_unique<ArrayNode>();
  node->table = table;
  node->buffers = std::move(buffers);
  array = {};
  array.length = length;
  array.n_buffers = static_cast<std::int64_t>(node->buffers.size());
  array.buffers = node->buffers.data();
  array.release = release<ArrayNode, ArrowArray>;
  return node;
}

void export_schema(const SharedExport& table, ArrowSchema& out) {
  auto root = fill_schema(out, table, "+s", "");
  for (std::size_t column = 0; column < table->names.size(); ++column) {
    auto child = std::make_unique<ArrowSchema>();
    const bool is_dictionary = column == 0;
    auto node = fill_schema(*child, table, is_dictionary ? "i" : "g", table->names[column].c_str());
    if (is_dictionary) {
      auto values = std::make_unique<ArrowSchema>();
      values->private_data = fill_schema(*values, table, "u", "").release();
      child->dictionary = values.get();
      node->owned.push_back(std::move(values));
    }
    child->private_data = node.release();
    root->children.push_back(child.get());
    root->owned.push_back(std::move(child));
  }
  out.n_children = static_cast<std::int64_t>(root->children.size());
  out.children = root->children.data();
  out.private_data = root.release();
}

void export_batch(const SharedExport& table, ArrowArray& out) {
  auto root = fill_array(out, table, table->n_rows, {nullptr});
  for (std::size_t column = 0; column < table->names.size(); ++column) {
    auto child = std::make_unique<ArrowArray>();
    const auto& validity = table->validity[column];
    auto node =
        fill_array(*child, table, table->n_rows, {validity.empty() ? nullptr : validity.data(), table->data[column]});
    child->null_count = validity.empty() ? 0 : -1;
    if (column == 0) {
      auto values = std::make_unique<ArrowArray>();
      const auto n_values = static_cast<std::int64_t>(table->value_offsets.size()) - 1;
      values->private_data =
          fill_array(*values, table, n_values, {nullptr, table->value_offsets.data(), table->value_bytes.data()})
              .release();
      child->dictionary = values.get();
      node->owned.push_back(std::move(values));
    }
    child->private_data = node.release();
    root->children.push_back(child.get());
    root->owned.push_back(std::move(child));
  }
  out.n_children = static_cast<std::int64_t>(root->children.size());
  out.children = root->children.data();
  out.private_data = root.release();
}

struct StreamNode {
  SharedExport table;
  bool is_done = false;
};

// Callbacks of the stream: no exception may leave them.
template <class Work>
int guarded(const Work& work) {
  try {
    work();
    return 0;
  } catch (...) {
    return ENOMEM;
  }
}

int get_schema(ArrowArrayStream* self, ArrowSchema* out) {
  return guarded([&] { export_schema(static_cast<StreamNode*>(self->private_data)->table, *out); });
}

int get_next(ArrowArrayStream* self, ArrowArray* out) {
  auto* node = static_cast<StreamNode*>(self->private_data);
  *out = {};
  if (std::exchange(node->is_done, true)) return 0;
  return guarded([&] { export_batch(node->table, *out); });
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

py::capsule export_stream(const std::string& code_name, const CodeColumn& codes,
                          const std::vector<std::string>& code_values, const std::vector<std::string>& names,
                          const std::vector<Column>& columns) {
  auto table = std::make_shared<ExportedTable>();
  table->n_rows = codes.size();
  table->names = {code_name};
  table->names.insert(table->names.end(), names.begin(), names.end());
  table->data = {codes.data()};
  table->validity.resize(1);
  table->arrays = {codes};
  for (const Column& column : columns) {
    table->data.push_back(column.data());
    table->validity.push_back(validity_of(column));
    table->arrays.push_back(column);
  }
  table->value_offsets = {0};
  for (const std::string& value : code_values) {
    table->value_bytes += value;
    table->value_offsets.push_back(static_cast<std::int32_t>(table->value_bytes.size()));
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
