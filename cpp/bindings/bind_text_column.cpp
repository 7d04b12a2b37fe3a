#include <pybind11/pybind11.h>

#include "bind.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace pfgen {

void bind_text_column(py::module_& module) {
  py::class_<TextColumn>(module, "TextColumn", "A column of texts, borrowed from Python or Arrow.")
      .def(py::init<py::handle, std::string, bool>(), py::arg("source"), py::arg("name"),
           py::arg("nulls_allowed") = false)
      .def("__len__", &TextColumn::size)
      .def("__getitem__", [](const TextColumn& self, std::size_t row) {
        if (row >= self.size()) throw py::index_error();
        return self.item(row);
      });
}

}  // namespace pfgen
