#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "answer_reader.hpp"
#include "bind.hpp"
#include "pfgen/variant_scorer.hpp"
#include "question.hpp"
#include "text_column.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

// The scorer of variants as Python sees it, with the functions that apply regexes or spell in tokens.
class Variants {
 public:
  // `reference_sets[q][s]` is the sequence of answers of set s of question q, spelled where the units are tokens.
  Variants(const std::vector<QuestionSource>& questions, const std::vector<std::vector<py::object>>& reference_sets,
           const std::vector<Constants>& constants, std::size_t n_threads)
      : readers_(questions.begin(), questions.end()) {
    std::vector<Question> taken;
    for (const QuestionSource& question : questions) taken.push_back(question.taken());
    const BorrowedSets sets(reference_sets);
    const GilReleased no_gil;
    scorer_ = std::make_unique<VariantScorer>(std::move(taken), sets.views(), constants, n_threads);
  }

  // Fluency, truthfulness, helpfulness and average (second axis) of each variant (first) and answer (third).
  py::array_t<double> score(const Array<std::int32_t>& questions, const TextColumn& answers,
                            std::size_t n_threads) const {
    const std::span<const std::int32_t> codes = values_of(questions);
    if (codes.size() != answers.size()) throw py::value_error("expected one question for each answer");
    const auto is_unknown = [&](std::int32_t code) {
      return code < 0 || static_cast<std::size_t>(code) >= readers_.size();
    };
    if (std::ranges::any_of(codes, is_unknown)) throw py::value_error("unknown number of a question");
    const ReadAnswers read(readers_, codes, answers, scorer_->look_aheads());
    py::array_t<double> scores({static_cast<py::ssize_t>(scorer_->n_variants()),
                                static_cast<py::ssize_t>(VariantScorer::kParts),
                                static_cast<py::ssize_t>(codes.size())});
    double* out = scores.mutable_data();
    const GilReleased no_gil;
    scorer_->score(read.answers(), n_threads, out, check_signals);
    return scores;
  }

  // The baselines of one question: by variant, then set.
  std::vector<std::vector<double>> baselines(std::size_t question) const {
    const std::size_t n_sets = scorer_->questions().at(question).set_columns.size();
    std::vector<std::vector<double>> found(scorer_->n_variants());
    for (std::size_t v = 0; v < found.size(); ++v) {
      for (std::size_t s = 0; s < n_sets; ++s) found[v].push_back(scorer_->baseline(question, v, s));
    }
    return found;
  }

 private:
  std::unique_ptr<VariantScorer> scorer_;
  std::vector<AnswerReader> readers_;  // per question
};

}  // namespace

void bind_variant_scorer(py::module_& module) {
  py::class_<Constants>(module, "Constants", "Constants of the rules.")
      .def(py::init<std::uint32_t, std::uint32_t, double, std::size_t, std::size_t>(), py::kw_only(),
           py::arg("first_order"), py::arg("last_order"), py::arg("threshold"), py::arg("target_length"),
           py::arg("limit"));
  py::class_<Variants>(module, "VariantScorer", "Scores answers by several sets of constants at once.")
      .def(py::init<const std::vector<QuestionSource>&, const std::vector<std::vector<py::object>>&,
                    const std::vector<Constants>&, std::size_t>(),
           py::arg("questions"), py::arg("reference_sets"), py::arg("constants"), py::arg("n_threads"))
      .def("score", &Variants::score, py::arg("questions"), py::arg("answers"), py::arg("n_threads"))
      .def("baselines", &Variants::baselines, py::arg("question"));
}

}  // namespace pfgen
