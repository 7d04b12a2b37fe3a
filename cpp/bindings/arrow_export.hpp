// Hands a table of scores to Arrow consumers without copying its columns.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pfgen {

using Column = pybind11::array_t<double, pybind11::array::c_style>;
using CodeColumn = pybind11::array_t<std::int32_t, pybind11::array::c_style>;

// A capsule "arrow_array_stream" of one batch: the codes as a dictionary-encoded string column `code_name`, then the
// float columns. NaN becomes null. The stream keeps the arrays alive.
pybind11::capsule export_stream(const std::string& code_name, const CodeColumn& codes,
                                const std::vector<std::string>& code_values, const std::vector<std::string>& names,
                                const std::vector<Column>& columns);

}  // namespace pfgen
