// Hands a table of scores to Arrow consumers without copying its columns.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace pfgen {

using Column = pybind11::array_t<double, pybind11::array::c_style>;
using CodeColumn = pybind11::array_t<std::int32_t, pybind11::array::c_style>;

// A dictionary-encoded string column: its name, the code of each row, and the values.
using CodedColumn = std::tuple<std::string, CodeColumn, std::vector<std::string>>;

// A capsule "arrow_array_stream" of one batch: the coded column, if there is one, then the float columns. All columns
// have `n_rows` rows. NaN becomes null. The stream keeps the arrays alive.
pybind11::capsule export_stream(std::size_t n_rows, const std::optional<CodedColumn>& coded,
                                const std::vector<std::string>& names, const std::vector<Column>& columns);

}  // namespace pfgen
