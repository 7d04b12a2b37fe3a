// What shapes of rewards count in answers: lengths, repetition, copied characters.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <span>

#include "bind.hpp"
#include "pfgen/text_shapes.hpp"
#include "text_column.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

constexpr std::size_t kNoLimit = 0x7FFFFFFF;

py::array_t<double> lengths_of(const TextColumn& answers, std::size_t n_threads, std::size_t limit) {
  return to_array(without_gil(answers, [&](std::span<const TextView> texts, const auto& on_pause) {
    return count_code_points(texts, limit, n_threads, on_pause);
  }));
}

py::array_t<double> n_units_of(const TextColumn& answers, std::size_t n_threads, std::size_t limit) {
  return to_array(without_gil(answers, [&](std::span<const TextView> texts, const auto& on_pause) {
    return count_units(texts, limit, n_threads, on_pause);
  }));
}

py::array_t<double> repetition_of(const TextColumn& answers, std::size_t n, std::size_t n_threads) {
  if (n == 0) throw py::value_error("n: expected at least 1");
  return to_array(without_gil(answers, [&](std::span<const TextView> texts, const auto& on_pause) {
    return repeated_shares(texts, n, n_threads, on_pause);
  }));
}

// The sources with the column from which they borrow.
class BoundSources {
 public:
  BoundSources(const TextColumn& texts, const Array<std::int64_t>& ends, std::size_t n)
      : texts_(texts), sources_(texts_.texts(), values_of(ends), n) {}

  py::array_t<double> copied_shares(const TextColumn& answers, const Array<std::int32_t>& groups,
                                    std::size_t n_threads) {
    return to_array(without_gil(answers, [&](std::span<const TextView> views, const auto& on_pause) {
      return sources_.copied_shares(views, values_of(groups), n_threads, on_pause);
    }));
  }

 private:
  TextColumn texts_;
  CopySources sources_;
};

}  // namespace

void bind_text_shapes(py::module_& module) {
  module.def("count_code_points", &lengths_of, py::arg("answers"), py::arg("n_threads"), py::arg("limit") = kNoLimit,
             "Counts the code points of each answer up to a limit.");
  module.def("count_units", &n_units_of, py::arg("answers"), py::arg("n_threads"), py::arg("limit") = kNoLimit,
             "Counts the units of each answer in profile normalised up to a limit.");
  module.def("repeated_shares", &repetition_of, py::arg("answers"), py::arg("n"), py::arg("n_threads"),
             "Computes 1 - different / all windows of n code points of each answer.");
  py::class_<BoundSources>(module, "CopySources", "Groups of texts from which answers may be copied.")
      .def(py::init<const TextColumn&, const Array<std::int64_t>&, std::size_t>(), py::arg("texts"), py::arg("ends"),
           py::arg("n"))
      .def("copied_shares", &BoundSources::copied_shares, py::arg("answers"), py::arg("groups"), py::arg("n_threads"));
}

}  // namespace pfgen
