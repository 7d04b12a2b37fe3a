// Work of the core without the GIL, and its input and output as arrays.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "gil.hpp"
#include "pfgen/error.hpp"
#include "text_column.hpp"

namespace pfgen {

// Lets Ctrl-C through; for work that is done without the GIL.
inline void check_signals() {
  const GilHeld gil;
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

// Calls `work(texts, on_pause)` without the GIL. A CompileError becomes a BadColumn.
template <class Work>
auto without_gil(const TextColumn& answers, const Work& work) {
  const std::function<void()> on_pause = check_signals;
  try {
    const GilReleased no_gil;
    return work(answers.texts(), on_pause);
  } catch (const CompileError& error) {
    throw BadColumn{answers.name(), error.what()};
  }
}

template <class Value>
using Array = pybind11::array_t<Value, pybind11::array::c_style>;

template <class Value>
std::span<const Value> values_of(const Array<Value>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

template <class Value>
pybind11::array_t<Value> to_array(const std::vector<Value>& values) {
  return pybind11::array_t<Value>(static_cast<pybind11::ssize_t>(values.size()), values.data());
}

}  // namespace pfgen
