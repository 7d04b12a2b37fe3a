// The extension module pfgen_fast._core: one bind_<noun>.cpp per noun, and the translation of errors.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bind.hpp"
#include "pfgen/error.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace {

// Exceptions whose arguments the Python layer turns into messages. Borrowed from the module, which lives as long as the
// interpreter.
struct ErrorTypes {
  py::handle bad_row;
  py::handle bad_column;
  py::handle invalid_answer;
  py::handle unknown_question;
  py::handle index_format_error;
};
ErrorTypes error_types;

// Messages of Arrow producers may contain any bytes.
py::object argument(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
}

template <class Value>
const Value& argument(const Value& value) {
  return value;
}

template <class... Args>
void raise(py::handle type, const Args&... args) {
  PyErr_SetObject(type.ptr(), py::make_tuple(argument(args)...).ptr());
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const pfgen::BadRow& error) {
    raise(error_types.bad_row, error.column, error.row, error.problem);
  } catch (const pfgen::BadColumn& error) {
    raise(error_types.bad_column, error.column, error.problem);
  } catch (const pfgen::InvalidAnswer& error) {
    raise(error_types.invalid_answer, error.row, error.byte);
  } catch (const pfgen::UnknownQuestion& error) {
    raise(error_types.unknown_question, error.row, error.key);
  } catch (const pfgen::IndexFormatError& error) {
    PyErr_SetString(error_types.index_format_error.ptr(), error.what());
  } catch (const pfgen::CompileError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  }
}

py::handle new_error(py::module_& module, const char* name) {
  const std::string full_name = std::string("pfgen_fast._core.") + name;
  auto type = py::reinterpret_steal<py::object>(PyErr_NewException(full_name.c_str(), nullptr, nullptr));
  module.attr(name) = type;
  return type.release();
}

}  // namespace

// Safe without the GIL: shared state is either immutable or behind a lock (docs/design/platforms.md, "Free-threaded
// Python").
PYBIND11_MODULE(_core, module, py::mod_gil_not_used()) {
  module.doc() = "Native core of pfgen_fast; use the package's public names.";
  module.attr("__version__") = PFGEN_VERSION;
  error_types = {new_error(module, "BadRow"), new_error(module, "BadColumn"), new_error(module, "InvalidAnswer"),
                 new_error(module, "UnknownQuestion"), new_error(module, "IndexFormatError")};
  py::register_exception_translator(&translate);
  pfgen::bind_text_column(module);
  pfgen::bind_question(module);
  pfgen::bind_scorer(module);
  pfgen::bind_counting(module);
  pfgen::bind_references(module);
  pfgen::bind_tokens(module);
  pfgen::bind_trials(module);
  pfgen::bind_text_shapes(module);
}
