#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <span>

#include "bind.hpp"
#include "gil.hpp"
#include "pfgen/xz.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

// Unpacks into the bytes that Python gets, which nobody else sees before they are complete.
std::optional<py::bytes> unpacked_xz(const py::bytes& stored, std::size_t limit) {
  char* data = nullptr;
  Py_ssize_t n_stored = 0;
  if (PyBytes_AsStringAndSize(stored.ptr(), &data, &n_stored) != 0) throw py::error_already_set();
  const std::span from(reinterpret_cast<const std::uint8_t*>(data), static_cast<std::size_t>(n_stored));
  const std::optional<std::size_t> n = xz_content_bytes(from);
  if (!n || *n > limit) return std::nullopt;
  py::bytes content = py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(*n)));
  if (!content) throw py::error_already_set();
  bool is_unpacked = false;
  {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(content.ptr()));
    const GilReleased no_gil;
    is_unpacked = unpack_xz(from, {bytes, *n});
  }
  return is_unpacked ? std::optional(std::move(content)) : std::nullopt;
}

}  // namespace

void bind_xz(py::module_& module) {
  module.def("unpacked_xz", &unpacked_xz, py::arg("stored"), py::arg("limit"),
             "The content of a file, of no more than so many bytes; None where it is damaged or of another kind.");
}

}  // namespace pfgen
