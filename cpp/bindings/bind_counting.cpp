// N-gram counts, the n-gram sampler, and the selection of reference answers.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bind.hpp"
#include "pfgen/ngram_counts.hpp"
#include "pfgen/sampler.hpp"
#include "pfgen/selection.hpp"
#include "text_column.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

RareNgrams find_rare(const TextColumn& answers, std::size_t order, std::uint64_t below, std::size_t n_threads) {
  return without_gil(answers, [&](std::span<const TextView> texts, const auto& on_pause) {
    return find_rare_ngrams(texts, order, below, n_threads, on_pause);
  });
}

DocumentFrequencies count_documents(const TextColumn& answers, std::size_t max_order, std::size_t n_threads) {
  return without_gil(answers, [&](std::span<const TextView> texts, const auto& on_pause) {
    return document_frequencies(texts, max_order, n_threads, on_pause);
  });
}

// A property that is an array; it is a copy each time.
template <class Owner, class Value>
auto array_of(std::vector<Value> Owner::* values) {
  return [values](const Owner& self) { return to_array(self.*values); };
}

// Answers that are drawn before they become Python objects: memory stays flat, and threads are started seldom.
constexpr std::size_t kSeedsAtATime = std::size_t{1} << 15;

// `sets[s]` is the sequence of answers of set s; `top_k` 0 is no limit.
std::unique_ptr<NgramSampler> make_sampler(const std::vector<py::object>& sets, std::size_t order, double temperature,
                                           double top_p, std::size_t top_k, std::uint64_t stream) {
  std::vector<TextColumn> borrowed;
  std::vector<TextView> answers;
  for (const py::object& set : sets) {
    const TextColumn& column = borrowed.emplace_back(set, "answers", false);
    for (std::size_t i = 0; i < column.size(); ++i) answers.push_back(column[i]);
  }
  const GilReleased no_gil;
  return std::make_unique<NgramSampler>(answers, SamplerOptions{order, temperature, top_p, top_k}, stream);
}

std::vector<SampledTexts> draw(const NgramSampler& self, std::span<const std::uint64_t> seeds,
                               std::size_t max_code_points, std::size_t n_threads) {
  const GilReleased no_gil;
  return self.sample(seeds, max_code_points, n_threads, check_signals);
}

py::list sample(const NgramSampler& self, const Array<std::uint64_t>& seeds, std::size_t max_code_points,
                std::size_t n_threads) {
  const std::span<const std::uint64_t> all = values_of(seeds);
  py::list answers(all.size());
  Py_ssize_t row = 0;
  for (std::size_t at = 0; at < all.size(); at += kSeedsAtATime) {
    const auto some = all.subspan(at, std::min(kSeedsAtATime, all.size() - at));
    for (const SampledTexts& texts : draw(self, some, max_code_points, n_threads)) {
      std::size_t begin = 0;
      for (const std::size_t end : texts.ends) {
        const TextView text{texts.code_points.data() + begin, end - begin, Encoding::kUcs4};
        PyList_SET_ITEM(answers.ptr(), row++, to_str(text).release().ptr());
        begin = end;
      }
    }
  }
  return answers;
}

Comparison compare_with_all(const TextColumn& answers, const Array<std::uint32_t>& rows, std::size_t max_order) {
  return without_gil(answers, [&](std::span<const TextView> texts, const auto&) {
    return compare(texts, values_of(rows), max_order);
  });
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

void bind_counting(py::module_& module) {
  py::class_<RareNgrams>(module, "RareNgrams", "Where answers have rare n-grams first, and how many there are.")
      .def_property_readonly("first", array_of(&RareNgrams::first))
      .def_readonly("n_rare", &RareNgrams::n_rare)
      .def_readonly("n_distinct", &RareNgrams::n_distinct);
  py::class_<DocumentFrequencies>(module, "DocumentFrequencies",
                                  "The distinct n-grams, and how many answers hold each.")
      .def_property_readonly("rows", array_of(&DocumentFrequencies::rows))
      .def_property_readonly("offsets", array_of(&DocumentFrequencies::offsets))
      .def_property_readonly("orders", array_of(&DocumentFrequencies::orders))
      .def_property_readonly("frequencies", array_of(&DocumentFrequencies::frequencies));
  module.attr("__longest_ngram__") = kLongestNgram;
  module.def("find_rare_ngrams", &find_rare, py::arg("answers"), py::arg("order"), py::arg("below"),
             py::arg("n_threads"), "Finds the n-grams that occur less than `below` times in all answers.");
  module.def("document_frequencies", &count_documents, py::arg("answers"), py::arg("max_order"), py::arg("n_threads"),
             "Counts the answers that hold each n-gram.");
  py::class_<NgramSampler>(module, "NgramSampler",
                           "Draws answers from the n-grams of the reference answers of a question.")
      .def(py::init(&make_sampler), py::arg("sets"), py::arg("order"), py::arg("temperature"), py::arg("top_p"),
           py::arg("top_k"), py::arg("stream"))
      .def("sample", &sample, py::arg("seeds"), py::arg("max_code_points"), py::arg("n_threads"))
      .def_property_readonly("n_contexts", &NgramSampler::n_contexts);
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
