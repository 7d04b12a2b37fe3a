#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "bind.hpp"
#include "gil.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

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

}  // namespace

void bind_text_column(py::module_& module) {
  py::class_<TextColumn>(module, "TextColumn", "A column of texts, borrowed from Python or Arrow.")
      .def(py::init<py::handle, std::string, bool>(), py::arg("source"), py::arg("name"),
           py::arg("nulls_allowed") = false)
      .def_static("joined", &TextColumn::joined, py::arg("name"), py::arg("columns"),
                  "The texts of several columns, one after the other.")
      .def("__len__", &TextColumn::size)
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
