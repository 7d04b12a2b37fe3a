// The scores of a batch as columns. NumPy arrays are views of them, created on access, so that scoring runs does not
// import NumPy.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "gil.hpp"
#include "pfgen/batch_scorer.hpp"

namespace pfgen {

// Columns: fluency, truthfulness, helpfulness, average, then the fluency of each set and the truthfulness of each set
// (NaN where a question lacks it).
class Scores {
 public:
  static constexpr std::size_t kAverage = 3;

  Scores(std::size_t n_rows, std::size_t n_sets)
      : n_sets_(n_sets),
        codes_(n_rows),
        values_((kAverage + 1 + 2 * n_sets) * n_rows, std::numeric_limits<double>::quiet_NaN()) {}

  std::size_t size() const noexcept { return codes_.size(); }
  std::size_t n_sets() const noexcept { return n_sets_; }
  std::size_t n_columns() const noexcept { return kAverage + 1 + 2 * n_sets_; }
  std::span<std::int32_t> codes() noexcept { return codes_; }
  std::span<const std::int32_t> codes() const noexcept { return codes_; }
  std::span<const double> column(std::size_t i) const noexcept { return {values_.data() + i * size(), size()}; }

  ScoreColumns columns() noexcept {
    double* const first = values_.data();
    const auto at = [&](std::size_t column) { return first + column * size(); };
    return {at(0), at(1), at(2), at(kAverage), at(kAverage + 1), at(kAverage + 1 + n_sets_)};
  }

 private:
  std::size_t n_sets_;
  std::vector<std::int32_t> codes_;
  std::vector<double> values_;
};

// A read-only array of the values, which `owner` keeps alive.
template <class Value>
pybind11::array_t<Value> read_only_view(std::span<const Value> values, pybind11::handle owner) {
  import_numpy();
  pybind11::array_t<Value> array(static_cast<pybind11::ssize_t>(values.size()), values.data(), owner);
  array.attr("setflags")(pybind11::arg("write") = false);
  return array;
}

}  // namespace pfgen
