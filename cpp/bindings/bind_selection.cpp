#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bind.hpp"
#include "pfgen/selection.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

using Rows = py::array_t<std::uint32_t, py::array::c_style>;

Comparison compare_with_all(const TextColumn& answers, const Rows& rows, std::size_t max_order) {
  const std::span<const std::uint32_t> chosen(rows.data(), static_cast<std::size_t>(rows.size()));
  return without_gil(answers,
                     [&](std::span<const TextView> texts, const auto&) { return compare(texts, chosen, max_order); });
}

std::vector<Climb> climb(const TextColumn& answers, std::size_t size, std::size_t max_order, std::uint64_t stream,
                         std::size_t n_restarts, std::optional<std::uint64_t> n_proposals,
                         std::optional<double> seconds, std::size_t n_threads, const py::object& progress) {
  const SelectionOptions options{size, max_order, stream, n_restarts, n_proposals, seconds};
  return without_gil(answers, [&](std::span<const TextView> texts, const auto& on_pause) {
    return select(texts, options, n_threads, [&](const CurvePoint& point) {
      on_pause();
      const GilHeld gil;
      if (!progress.is_none()) progress(point);
    });
  });
}

}  // namespace

void bind_selection(py::module_& module) {
  py::class_<DistributionSums>(module, "DistributionSums", "Sums over all distinct n-grams, of all and chosen answers.")
      .def_readonly("n_ngrams", &DistributionSums::n_ngrams)
      .def_readonly("all_squares", &DistributionSums::all_squares)
      .def_readonly("chosen_squares", &DistributionSums::chosen_squares)
      .def_readonly("products", &DistributionSums::products);
  py::class_<OrderCoverage>(module, "OrderCoverage", "The n-grams of one order.")
      .def_readonly("n_ngrams", &OrderCoverage::n_ngrams)
      .def_readonly("n_held", &OrderCoverage::n_held)
      .def_readonly("frequencies", &OrderCoverage::frequencies)
      .def_readonly("held_frequencies", &OrderCoverage::held_frequencies);
  py::class_<Comparison>(module, "Comparison", "Some answers compared with all; one coverage for each order.")
      .def_readonly("sums", &Comparison::sums)
      .def_readonly("orders", &Comparison::orders);
  py::class_<CurvePoint>(module, "CurvePoint", "Where a climb is.")
      .def_readonly("n_proposals", &CurvePoint::n_proposals)
      .def_readonly("sums", &CurvePoint::sums);
  py::class_<Climb>(module, "Climb", "One climb and what it chose.")
      .def_property_readonly("rows", [](const Climb& self) { return to_array(self.rows); })
      .def_readonly("curve", &Climb::curve)
      .def_readonly("n_proposals", &Climb::n_proposals)
      .def_readonly("n_accepted", &Climb::n_accepted)
      .def_readonly("is_finished", &Climb::is_finished);
  module.def("compare_with_all", &compare_with_all, py::arg("answers"), py::arg("rows"), py::arg("max_order"),
             "Compares the n-grams of some answers with those of all.");
  module.def("climb", &climb, py::arg("answers"), py::arg("size"), py::arg("max_order"), py::arg("stream"),
             py::arg("n_restarts"), py::arg("n_proposals"), py::arg("seconds"), py::arg("n_threads"),
             py::arg("progress"), "Chooses answers by hill climbing, once for each restart.");
}

}  // namespace pfgen
