#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bind.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace pfgen {

void bind_text_column(py::module_& module) {
  py::class_<TextColumn>(module, "TextColumn", "A column of texts, borrowed from Python or Arrow.")
      .def(py::init<py::handle, std::string, bool>(), py::arg("source"), py::arg("name"),
           py::arg("nulls_allowed") = false)
      .def_static("joined", &TextColumn::joined, py::arg("name"), py::arg("columns"),
                  "The texts of several columns, one after the other.")
      .def("__len__", &TextColumn::size)
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
