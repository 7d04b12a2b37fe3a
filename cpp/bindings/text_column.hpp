// A column of texts from Python, borrowed without copying: a sequence of str, a NumPy array, or anything that exports
// an Arrow string column. The column keeps its source alive.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pfgen/arrow_column.hpp"
#include "pfgen/text.hpp"

namespace pfgen {

// An invalid value of a column; raised in Python as BadRow(column, row, problem).
struct BadRow {
  std::string column;
  std::size_t row;
  std::string problem;
};

// A source that is not a column of texts; raised in Python as BadColumn(column, problem).
struct BadColumn {
  std::string column;
  std::string problem;
};

class TextColumn {
 public:
  // `name` is the column's name in errors. Without `nulls_allowed` a missing value is a BadRow. If the source is a
  // TextColumn, it is shared.
  TextColumn(pybind11::handle source, std::string name, bool nulls_allowed);
  // `owners` keep the bytes of `texts` alive.
  TextColumn(std::string name, std::vector<TextView> texts, std::vector<std::shared_ptr<void>> owners)
      : name_(std::move(name)), texts_(std::move(texts)), owners_(std::move(owners)) {}

  // The texts of several columns, one after the other.
  static TextColumn joined(std::string name, const std::vector<const TextColumn*>& columns);

  TextColumn part(std::size_t first, std::size_t n) const;

  const std::string& name() const noexcept { return name_; }
  std::size_t size() const noexcept { return texts_.size(); }
  std::span<const TextView> texts() const noexcept { return texts_; }
  const TextView& operator[](std::size_t row) const noexcept { return texts_[row]; }

  // The text as a Python str, None for a missing one. Raises BadRow on invalid UTF-8.
  pybind11::object item(std::size_t row) const;

 private:
  bool take_arrow(pybind11::handle source);
  void take_sequence(const pybind11::tuple& values, bool nulls_allowed);

  std::string name_;
  std::vector<TextView> texts_;
  std::vector<std::shared_ptr<void>> owners_;
};

// A view of a str, which the caller keeps alive.
TextView view_of_str(PyObject* value);

// Keeps a Python object alive from C++ code that may let go of it without the GIL, or after the interpreter's end.
std::shared_ptr<void> keep_alive(pybind11::object object);

// The UTF-8 or Python representation of `text` as a str; a null pointer (and no Python error) on invalid UTF-8.
pybind11::object to_str(const TextView& text);
pybind11::object to_str(std::u32string_view text);

// Calls `read` with each chunk of an Arrow exporter (an object with __arrow_c_stream__ or __arrow_c_array__), and
// appends the owners of their memory to `owners`. Calls a stream without the GIL, because it may wait for threads that
// need Python.
using ReadChunk = std::function<void(const ArrowSchema& schema, const ArrowArray& array)>;
void import_arrow(pybind11::handle source, const std::string& column, std::vector<std::shared_ptr<void>>& owners,
                  const ReadChunk& read);

}  // namespace pfgen
