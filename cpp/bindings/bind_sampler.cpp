#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>

#include "bind.hpp"
#include "pfgen/sampler.hpp"
#include "text_column.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

// Answers that are drawn before they become Python objects: memory stays flat, and threads are started seldom.
constexpr std::size_t kSeedsAtATime = std::size_t{1} << 15;

using Seeds = py::array_t<std::uint64_t, py::array::c_style>;

// `sets[s]` is the sequence of answers of set s; `top_k` 0 is no limit.
std::unique_ptr<NgramSampler> make(const std::vector<py::object>& sets, std::size_t order, double temperature,
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

py::list sample(const NgramSampler& self, const Seeds& seeds, std::size_t max_code_points, std::size_t n_threads) {
  const std::span<const std::uint64_t> all(seeds.data(), static_cast<std::size_t>(seeds.size()));
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

}  // namespace

void bind_sampler(py::module_& module) {
  py::class_<NgramSampler>(module, "NgramSampler",
                           "Draws answers from the n-grams of the reference answers of a question.")
      .def(py::init(&make), py::arg("sets"), py::arg("order"), py::arg("temperature"), py::arg("top_p"),
           py::arg("top_k"), py::arg("stream"))
      .def("sample", &sample, py::arg("seeds"), py::arg("max_code_points"), py::arg("n_threads"))
      .def_property_readonly("n_contexts", &NgramSampler::n_contexts);
}

}  // namespace pfgen
