#include "text_column.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "bind.hpp"
#include "gil.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

std::string type_name(py::handle value) { return Py_TYPE(value.ptr())->tp_name; }

// Whether a value is pandas.NA; a program that has not imported pandas cannot have it.
bool is_na_of_pandas(PyObject* value) {
  const auto name = py::reinterpret_steal<py::object>(PyUnicode_InternFromString("pandas"));
  const auto pandas = py::reinterpret_steal<py::object>(PyImport_GetModule(name.ptr()));
  return pandas && py::getattr(pandas, "NA", py::none()).ptr() == value;
}

// None, NaN, and the missing value of pandas.
bool is_missing(PyObject* value) {
  return value == Py_None || (PyFloat_Check(value) && std::isnan(PyFloat_AS_DOUBLE(value))) || is_na_of_pandas(value);
}

bool exports_arrow(py::handle source) {
  return py::hasattr(source, "__arrow_c_stream__") || py::hasattr(source, "__arrow_c_array__");
}

// A private tuple of the values, so that the sequence cannot change while other threads read it.
py::tuple as_tuple(py::handle source, const std::string& column) {
  if (PyList_Check(source.ptr()) || PyTuple_Check(source.ptr())) {
    return py::reinterpret_steal<py::tuple>(PySequence_Tuple(source.ptr()));
  }
  if (PyUnicode_Check(source.ptr()) || PyBytes_Check(source.ptr()) || PyDict_Check(source.ptr())) {
    throw BadColumn{column, "expected a sequence of str, not one " + type_name(source)};
  }
  if (py::hasattr(source, "ndim") && py::hasattr(source, "tolist")) {
    if (const auto n_dimensions = source.attr("ndim").cast<int>(); n_dimensions != 1) {
      throw BadColumn{column, "expected one dimension, not " + std::to_string(n_dimensions)};
    }
    return py::tuple(source.attr("tolist")());
  }
  PyObject* values = nullptr;
  run_python([&] { values = PySequence_Tuple(source.ptr()); });
  if (values != nullptr) return py::reinterpret_steal<py::tuple>(values);
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
  PyErr_Clear();
  throw BadColumn{column, "expected a list of str, a NumPy array or an Arrow string column, not " + type_name(source)};
}

py::array_t<bool> differs_from(const TextColumn& self, const TextColumn& other) {
  if (self.size() != other.size()) {
    throw std::invalid_argument(std::to_string(self.size()) + " texts and " + std::to_string(other.size()) +
                                " to compare with; expected as many");
  }
  py::array_t<bool> differs(static_cast<py::ssize_t>(self.size()));
  bool* const of_rows = differs.mutable_data();
  const GilReleased no_gil;
  for (std::size_t row = 0; row < self.size(); ++row) {
    const TextView &own = self[row], &others = other[row];
    of_rows[row] = !own.is_null && (others.is_null || !are_equal(own, others));
  }
  return differs;
}

// The number of texts that contain one of the parts.
std::size_t n_with_any(const TextColumn& self, const std::vector<py::str>& parts) {
  const std::vector<std::string> in_utf8(parts.begin(), parts.end());
  std::vector<const TextView*> others;
  std::size_t n = 0;
  {
    const GilReleased no_gil;
    for (const TextView& text : self.texts()) {
      if (text.is_null) continue;
      if (text.encoding != Encoding::kUtf8) {
        others.push_back(&text);
        continue;
      }
      const std::string_view bytes(static_cast<const char*>(text.data), text.n_units);
      n += std::ranges::any_of(in_utf8, [&](const std::string& part) { return bytes.find(part) != bytes.npos; });
    }
  }
  for (const TextView* text : others) {
    const py::object str = to_str(*text);
    n += std::ranges::any_of(parts, [&](const py::str& part) { return str.contains(part); });
  }
  return n;
}

}  // namespace

std::shared_ptr<void> keep_alive(py::object object) {
  return {object.release().ptr(), [](void* pointer) {
            if (Py_IsInitialized() == 0) return;
            const GilHeld gil;
            Py_DECREF(static_cast<PyObject*>(pointer));
          }};
}

TextView view_of_str(PyObject* value) {
#if PY_VERSION_HEX < 0x030C0000
  if (PyUnicode_READY(value) != 0) throw py::error_already_set();
#endif
  const auto n = static_cast<std::size_t>(PyUnicode_GET_LENGTH(value));
  const void* data = PyUnicode_DATA(value);
  switch (PyUnicode_KIND(value)) {
    case PyUnicode_1BYTE_KIND:
      return {data, n, Encoding::kLatin1};
    case PyUnicode_2BYTE_KIND:
      return {data, n, Encoding::kUcs2};
    default:
      return {data, n, Encoding::kUcs4};
  }
}

py::object to_str(std::u32string_view text) { return to_str(TextView{text.data(), text.size(), Encoding::kUcs4}); }

py::object to_str(const TextView& text) {
  const auto n = static_cast<Py_ssize_t>(text.n_units);
  PyObject* value = nullptr;
  switch (text.encoding) {
    case Encoding::kLatin1:
      value = PyUnicode_FromKindAndData(PyUnicode_1BYTE_KIND, text.data, n);
      break;
    case Encoding::kUcs2:
      value = PyUnicode_FromKindAndData(PyUnicode_2BYTE_KIND, text.data, n);
      break;
    case Encoding::kUcs4:
      value = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data, n);
      break;
    case Encoding::kUtf8:
      value = PyUnicode_DecodeUTF8(n == 0 ? "" : static_cast<const char*>(text.data), n, nullptr);
      if (value == nullptr && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        return {};
      }
      break;
  }
  if (value == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(value);
}

TextColumn::TextColumn(py::handle source, std::string name, bool nulls_allowed) : name_(std::move(name)) {
  const bool is_plain = PyList_Check(source.ptr()) || PyTuple_Check(source.ptr());
  if (!is_plain && py::isinstance<TextColumn>(source)) {
    const auto& column = source.cast<const TextColumn&>();
    texts_ = column.texts_;
    owners_ = column.owners_;
    return;
  }
  if (!is_plain && exports_arrow(source) && take_arrow(source)) {
    for (std::size_t row = 0; !nulls_allowed && row < texts_.size(); ++row) {
      if (texts_[row].is_null) throw BadRow{name_, row, "a null; expected a text"};
    }
    return;
  }
  const py::tuple values = as_tuple(source, name_);
  take_sequence(values, nulls_allowed);
  owners_.push_back(keep_alive(values));
}

// Whether the source could be read as Arrow. A column of Python objects (of pandas) may fail to export itself: then it
// is read as a sequence, which finds the row.
bool TextColumn::take_arrow(py::handle source) {
  try {
    const auto read = [&](const ArrowSchema& schema, const ArrowArray& array) { read_arrow(schema, array, texts_); };
    import_arrow(source, name_, owners_, read);
    return true;
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    if (py::hasattr(source, "ndim") && py::hasattr(source, "tolist")) return false;
    throw BadColumn{name_, "cannot be exported to Arrow: " + std::string(py::str(error.value()))};
  }
}

void TextColumn::take_sequence(const py::tuple& values, bool nulls_allowed) {
  texts_.reserve(values.size());
  for (std::size_t row = 0; row < values.size(); ++row) {
    PyObject* value = PyTuple_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(row));
    if (PyUnicode_Check(value)) {
      texts_.push_back(view_of_str(value));
    } else if (nulls_allowed && is_missing(value)) {
      texts_.push_back({.is_null = true});
    } else {
      throw BadRow{name_, row, "expected a str, not " + type_name(value)};
    }
  }
}

TextColumn TextColumn::joined(std::string name, const std::vector<const TextColumn*>& columns) {
  TextColumn all(std::move(name), {}, {});
  for (const TextColumn* column : columns) {
    if (column == nullptr) throw py::type_error("expected TextColumns, got None");
    all.texts_.insert(all.texts_.end(), column->texts_.begin(), column->texts_.end());
    all.owners_.insert(all.owners_.end(), column->owners_.begin(), column->owners_.end());
  }
  return all;
}

TextColumn TextColumn::part(std::size_t first, std::size_t n) const {
  if (first > size() || n > size() - first) throw py::index_error();
  const auto begin = texts_.begin() + static_cast<std::ptrdiff_t>(first);
  return {name_, {begin, begin + static_cast<std::ptrdiff_t>(n)}, owners_};
}

py::object TextColumn::item(std::size_t row) const {
  if (texts_[row].is_null) return py::none();
  py::object text = to_str(texts_[row]);
  if (!text) throw BadRow{name_, row, "invalid UTF-8"};
  return text;
}

void bind_text_column(py::module_& module) {
  py::class_<TextColumn>(module, "TextColumn", "A column of texts, borrowed from Python or Arrow.")
      .def(py::init<py::handle, std::string, bool>(), py::arg("source"), py::arg("name"),
           py::arg("nulls_allowed") = false)
      .def_static("joined", &TextColumn::joined, py::arg("name"), py::arg("columns"),
                  "The texts of several columns, one after the other.")
      .def("part", &TextColumn::part, py::arg("first"), py::arg("n"), "Some of the texts.")
      .def("__len__", &TextColumn::size)
      .def("n_with_any", &n_with_any, py::arg("parts"), "The number of texts that contain one of the parts.")
      .def("differs_from", &differs_from, py::arg("other"),
           "By row, whether there is a text, and the other column has another one or none.")
      .def("tolist",
           [](const TextColumn& self) {
             py::list values(self.size());
             for (std::size_t row = 0; row < self.size(); ++row) values[row] = self.item(row);
             return values;
           })
      .def("__getitem__", [](const TextColumn& self, std::size_t row) {
        if (row >= self.size()) throw py::index_error();
        return self.item(row);
      });
}

}  // namespace pfgen
