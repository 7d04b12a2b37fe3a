// Declarations that the files of the binding share. Bindings only translate: they take or borrow the data, release the
// GIL, call the core, and wrap the result.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>

namespace pfgen {

// A question that the scorer does not have; raised in Python as UnknownQuestion(row, key), with no row where one
// question was given for all.
struct UnknownQuestion {
  std::optional<std::size_t> row;
  pybind11::object key;
};

void bind_text_column(pybind11::module_& module);
void bind_question(pybind11::module_& module);
void bind_scorer(pybind11::module_& module);
void bind_counting(pybind11::module_& module);
void bind_references(pybind11::module_& module);
void bind_tokens(pybind11::module_& module);
void bind_trials(pybind11::module_& module);
void bind_text_shapes(pybind11::module_& module);

}  // namespace pfgen
