// Metrics of answers and the references in their rows.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "pfgen/error.hpp"
#include "pfgen/reference_scorer.hpp"
#include "text_column.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

// The texts of a column of lists, where each list begins, and whether each row is null. A null in a list is a BadRow.
py::tuple import_lists(py::handle source, const std::string& column) {
  TextLists lists;
  std::vector<std::shared_ptr<void>> owners;
  import_arrow(source, column, owners,
               [&](const ArrowSchema& schema, const ArrowArray& array) { read_arrow_lists(schema, array, lists); });
  const auto n_rows = static_cast<py::ssize_t>(lists.is_null.size());
  py::array_t<bool> is_null(n_rows);
  std::ranges::copy(lists.is_null, is_null.mutable_data());
  for (std::size_t row = 0; row < lists.is_null.size(); ++row) {
    for (std::uint64_t i = lists.begins[row]; !lists.is_null[row] && i < lists.begins[row + 1]; ++i) {
      if (!lists.texts[i].is_null) continue;
      throw BadRow{column, row, "reference " + std::to_string(i - lists.begins[row]) + ": a null; expected a text"};
    }
  }
  return py::make_tuple(TextColumn(column, std::move(lists.texts), std::move(owners)), to_array(lists.begins), is_null);
}

// Tokens by a tokenizer of the caller, and where the tokens of each text begin.
using TokenArrays = std::pair<Array<std::uint32_t>, Array<std::uint64_t>>;

TextTokens tokens_of(const TokenArrays& own, const TextColumn& texts) {
  const TextTokens tokens{values_of(own.first), values_of(own.second)};
  if (tokens.begins.size() != texts.size() + 1 || tokens.begins.back() != tokens.tokens.size() ||
      !std::ranges::is_sorted(tokens.begins)) {
    throw py::value_error("expected the tokens of each text");
  }
  return tokens;
}

// The tokens of the texts, then those of their sentences, if they are needed.
OwnTokens own_tokens(const std::vector<TokenArrays>& tokens, const TextColumn& texts) {
  return {tokens_of(tokens.at(0), texts), tokens.size() > 1 ? tokens_of(tokens[1], texts) : TextTokens{}};
}

std::string problem_of(const InvalidReferenceText& error) {
  return error.byte == kNoError ? "a text of more than " + std::to_string(kLongestReferenceText) + " code points"
                                : "invalid UTF-8 at byte " + std::to_string(error.byte);
}

// Names the row of a text that cannot be scored.
[[noreturn]] void refuse(const InvalidReferenceText& error, const ReferenceBatch& batch) {
  const std::string problem = problem_of(error);
  if (!error.is_reference) throw BadRow{"answers", error.text, problem};
  const auto list = static_cast<std::size_t>(std::ranges::upper_bound(batch.begins, error.text) - batch.begins.begin());
  const auto row = std::ranges::find(batch.lists, list - 1) - batch.lists.begin();
  throw BadRow{"references", static_cast<std::size_t>(row),
               "reference " + std::to_string(error.text - batch.begins[list - 1]) + ": " + problem};
}

// The columns (first axis) of all rows, and the counts of each row.
using Results = std::pair<py::array_t<double>, py::array_t<std::int32_t>>;

// `on_pause` may raise an exception, which ends the call. `lists[row]` is the number of the row's list, which has the
// references from `begins[number]` to `begins[number + 1]`.
Results score_references(const ReferenceScorer& self, const TextColumn& answers, const Array<std::uint32_t>& lists,
                         const TextColumn& references, const Array<std::uint64_t>& begins,
                         const std::optional<std::pair<std::vector<TokenArrays>, std::vector<TokenArrays>>>& own,
                         std::size_t n_threads, const py::object& on_pause) {
  ReferenceBatch batch{answers.texts(), values_of(lists), references.texts(), values_of(begins), {}, {}};
  const auto is_unknown = [&](std::uint32_t list) {
    return list != ReferenceBatch::kNoList && list + 1 >= batch.begins.size();
  };
  if (lists.size() != static_cast<py::ssize_t>(answers.size()) || batch.begins.empty() ||
      batch.begins.back() != references.size() || !std::ranges::is_sorted(batch.begins) ||
      std::ranges::any_of(batch.lists, is_unknown) || own.has_value() != self.options().has_own_tokens) {
    throw py::value_error("expected one list of references for each answer");
  }
  if (own) {
    batch.of_answers = own_tokens(own->first, answers);
    batch.of_references = own_tokens(own->second, references);
  }
  const auto n_rows = static_cast<py::ssize_t>(answers.size());
  py::array_t<double> columns({static_cast<py::ssize_t>(self.n_columns()), n_rows});
  py::array_t<std::int32_t> counts({n_rows, static_cast<py::ssize_t>(self.n_counts())});
  const std::span<double> of_columns(columns.mutable_data(), static_cast<std::size_t>(columns.size()));
  const std::span<std::int32_t> of_counts(counts.mutable_data(), static_cast<std::size_t>(counts.size()));
  try {
    const GilReleased no_gil;
    self.score(batch, n_threads, of_columns, of_counts, [&on_pause] {
      check_signals();
      const GilHeld gil;
      if (!on_pause.is_none()) call_python(on_pause);
    });
  } catch (const InvalidReferenceText& error) {
    refuse(error, batch);
  } catch (const LinesTooLong& error) {
    throw BadRow{"answers", error.row, error.what()};
  }
  return {std::move(columns), std::move(counts)};
}

// Of each column a matrix with a row for each hypothesis and a column for each reference; without references, they are
// the hypotheses.
py::array_t<double> score_pairs(const ReferenceScorer& self, const TextColumn& hypotheses, const TextColumn* references,
                                const std::optional<std::vector<std::vector<TokenArrays>>>& own, std::size_t n_threads,
                                const py::object& on_pause) {
  const TextColumn& others = references == nullptr ? hypotheses : *references;
  ReferenceBatch batch{hypotheses.texts(), {}, others.texts(), {}, {}, {}};
  if (own.has_value() != self.options().has_own_tokens) throw py::value_error("expected the tokens of each text");
  if (own) {
    batch.of_answers = own_tokens(own->at(0), hypotheses);
    batch.of_references = own_tokens(own->back(), others);
  }
  py::array_t<double> columns({self.n_columns(), hypotheses.size(), others.size()});
  const std::span<double> of_columns(columns.mutable_data(), static_cast<std::size_t>(columns.size()));
  try {
    const GilReleased no_gil;
    self.score_pairs(batch, n_threads, of_columns, [&on_pause] {
      check_signals();
      const GilHeld gil;
      if (!on_pause.is_none()) call_python(on_pause);
    });
  } catch (const InvalidReferenceText& error) {
    throw BadRow{error.is_reference ? "references" : "hypotheses", error.text, problem_of(error)};
  } catch (const LinesTooLong& error) {
    throw BadRow{"hypotheses", error.row, error.what()};
  }
  return columns;
}

double bleu_of_sums(const ReferenceScorer& self, const Array<std::int64_t>& sums) {
  const auto counts = values_of(sums);
  if (counts.size() != self.options().bleu.n_counts()) throw py::value_error("expected the counts of BLEU");
  return bleu(self.options().bleu, false, counts);
}

double chrf_of_sums(const ReferenceScorer& self, const Array<std::int64_t>& sums) {
  const auto counts = values_of(sums);
  if (counts.empty() || counts.size() % 3 != 0) throw py::value_error("expected the counts of chrF");
  return chrf(self.options().chrf, counts);
}

ReferenceScorer make_scorer(const std::vector<std::pair<ReferenceMetric, std::size_t>>& metrics, Reduce reduce,
                            std::optional<std::uint8_t> tokenizer, bool has_own_tokens, bool is_lower_case,
                            bool is_effective, const BleuOptions& bleu_options, const ChrfOptions& chrf_options) {
  std::optional<Tokenizer> of_all;
  if (tokenizer) of_all = static_cast<Tokenizer>(*tokenizer);
  ReferenceOptions options{{}, reduce, of_all, has_own_tokens, is_lower_case, is_effective, bleu_options, chrf_options};
  for (const auto& [metric, order] : metrics) options.metrics.push_back({metric, order});
  return ReferenceScorer(std::move(options));
}

}  // namespace

void bind_references(py::module_& module) {
  module.def("import_lists", &import_lists, py::arg("source"), py::arg("column"),
             "Reads an Arrow column of lists: texts, where the lists begin, and whether rows are null.");
  py::enum_<Smoothing>(module, "Smoothing", "What BLEU does with an order without a match.")
      .value("none", Smoothing::kNone)
      .value("floor", Smoothing::kFloor)
      .value("add_k", Smoothing::kAddK)
      .value("exp", Smoothing::kExp);
  py::enum_<ReferenceMetric>(module, "ReferenceMetric", "A metric of an answer and its references.")
      .value("bleu", ReferenceMetric::kBleu)
      .value("chrf", ReferenceMetric::kChrf)
      .value("chrf_words", ReferenceMetric::kChrfWords)
      .value("rouge_n", ReferenceMetric::kRougeN)
      .value("rouge_l", ReferenceMetric::kRougeL)
      .value("rouge_lsum", ReferenceMetric::kRougeLsum)
      .value("token_f1", ReferenceMetric::kTokenF1)
      .value("exact_match", ReferenceMetric::kExactMatch)
      .value("nmt_bleu", ReferenceMetric::kNmtBleu)
      .value("bleu_rouge", ReferenceMetric::kBleuRouge)
      .value("rep", ReferenceMetric::kRepeated)
      .value("distinct", ReferenceMetric::kDistinct);
  py::enum_<Reduce>(module, "Reduce", "What a score with several references is.")
      .value("best", Reduce::kBest)
      .value("mean", Reduce::kMean);
  py::class_<BleuOptions>(module, "BleuOptions", "The constants of BLEU.")
      .def(py::init<Smoothing, double, std::size_t>(), py::kw_only(), py::arg("smoothing"), py::arg("smoothing_value"),
           py::arg("max_order"));
  py::class_<ChrfOptions>(module, "ChrfOptions", "The constants of chrF.")
      .def(py::init<std::size_t, double, bool, bool>(), py::kw_only(), py::arg("char_order"), py::arg("beta"),
           py::arg("has_white_space"), py::arg("is_smoothed"));
  py::class_<ReferenceScorer>(module, "ReferenceScorer", "Scores answers by the references in their rows.")
      .def(py::init(&make_scorer), py::kw_only(), py::arg("metrics"), py::arg("reduce"), py::arg("tokenizer"),
           py::arg("has_own_tokens"), py::arg("is_lower_case"), py::arg("is_effective"), py::arg("bleu"),
           py::arg("chrf"))
      .def("score", &score_references, py::arg("answers"), py::arg("lists"), py::arg("references"), py::arg("begins"),
           py::arg("own_tokens"), py::arg("n_threads"), py::arg("on_pause") = py::none())
      .def("score_pairs", &score_pairs, py::arg("hypotheses"), py::arg("references").none(true), py::arg("own_tokens"),
           py::arg("n_threads"), py::arg("on_pause") = py::none())
      .def("bleu", &bleu_of_sums, py::arg("sums"), "BLEU of a corpus, from the sums of its rows' counts.")
      .def("chrf", &chrf_of_sums, py::arg("sums"), "chrF of a corpus, from the sums of its rows' counts.");
}

}  // namespace pfgen
