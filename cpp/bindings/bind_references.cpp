#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bind.hpp"
#include "pfgen/batch.hpp"
#include "pfgen/references.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

// `questions[q][s]` is the sequence of answers of set s of question q.
std::vector<std::shared_ptr<const References>> compile_questions(
    const std::vector<std::vector<py::object>>& questions, Profile profile, std::size_t n_threads) {
  std::vector<ReferenceSets> sets(questions.size());
  std::vector<TextColumn> borrowed;
  for (std::size_t q = 0; q < questions.size(); ++q) {
    for (const py::object& answers : questions[q]) {
      const TextColumn& column = borrowed.emplace_back(answers, "answers", false);
      std::vector<TextView>& set = sets[q].emplace_back();
      for (std::size_t i = 0; i < column.size(); ++i) set.push_back(column[i]);
    }
  }
  const py::gil_scoped_release no_gil;
  return compile(sets, profile, n_threads);
}

}  // namespace

void bind_references(py::module_& module) {
  py::enum_<Profile>(module, "Profile", "Which formulas are used.")
      .value("leaderboard", Profile::kLeaderboard)
      .value("paper", Profile::kPaper);
  py::class_<References, std::shared_ptr<References>>(module, "References",
                                                      "The indexed reference sets of one question.")
      .def_property_readonly("n_states", [](const References& self) { return self.index().n_states(); })
      .def_property_readonly("n_bytes", [](const References& self) { return self.index().n_bytes(); })
      .def_property_readonly("baselines", [](const References& self) {
        std::vector<double> baselines(self.n_sets());
        for (std::size_t s = 0; s < baselines.size(); ++s) baselines[s] = self.baseline(s);
        return baselines;
      });
  module.def("compile", &compile_questions, py::arg("questions"), py::arg("profile"), py::arg("n_threads"),
             "Indexes the reference sets of many questions.");
}

}  // namespace pfgen
