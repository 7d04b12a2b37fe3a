#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bind.hpp"
#include "pfgen/error.hpp"
#include "pfgen/perturbation.hpp"
#include "text_column.hpp"
#include "without_gil.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

BadRow invalid_utf8(const std::string& column, std::size_t row, std::size_t byte) {
  return {column, row, "invalid UTF-8 at byte " + std::to_string(byte)};
}

BadRow too_long(const std::string& column, std::size_t row) {
  return {column, row, "has, or would have, more than " + std::to_string(kMaxPerturbedCodePoints) + " code points"};
}

void check_utf8(const TextColumn& column) {
  std::vector<char32_t> none;
  for (std::size_t row = 0; row < column.size(); ++row) {
    const std::size_t error = decode(column[row], 0, none);
    if (error != kNoError) throw invalid_utf8(column.name(), row, error);
  }
}

// Donors with the texts that they look at.
struct BoundDonors {
  TextColumn texts;
  Donors donors;
};

// `groups` has the group of each text; without it the donors are a pool.
std::unique_ptr<BoundDonors> make_donors(const TextColumn& texts, const std::optional<Array<std::uint32_t>>& groups) {
  const auto of_texts = groups ? values_of(*groups) : std::span<const std::uint32_t>();
  try {
    const GilReleased no_gil;
    return std::make_unique<BoundDonors>(BoundDonors{texts, Donors(texts.texts(), of_texts)});
  } catch (const InvalidAnswer& error) {
    throw invalid_utf8(texts.name(), error.row, error.byte);
  } catch (const TextTooLong& error) {
    throw too_long(texts.name(), error.row);
  }
}

struct BoundPerturbedTexts {
  TextColumn texts;
  std::vector<std::uint8_t> impossible;
};

BoundPerturbedTexts bound(PerturbedTexts& column) {
  auto bytes = std::make_shared<std::vector<std::unique_ptr<unsigned char[]>>>(std::move(column.bytes));
  return {TextColumn("texts", std::move(column.texts), {std::move(bytes)}), std::move(column.impossible)};
}

// `amounts` are per mille, or numbers of sites where `are_absolute` is set. `groups` has the group of each text among
// the groups of the donors.
std::vector<BoundPerturbedTexts> perturb_texts(const TextColumn& texts, const std::string& kind,
                                               const std::vector<std::uint64_t>& amounts,
                                               const std::vector<bool>& are_absolute, std::uint64_t seed,
                                               const Array<std::uint8_t>& languages, const BoundDonors* donors,
                                               const std::optional<Array<std::uint32_t>>& groups,
                                               const TextColumn* alternatives, std::size_t n_threads) {
  std::vector<Degree> degrees;
  for (std::size_t i = 0; i < amounts.size(); ++i) degrees.push_back({amounts[i], are_absolute[i]});
  std::vector<Language> of_texts;
  for (const std::uint8_t language : values_of(languages)) of_texts.push_back(static_cast<Language>(language));
  PerturbationOptions options;
  options.kind = kind;
  options.degrees = degrees;
  options.seed = seed;
  options.languages = of_texts;
  if (donors != nullptr) options.donors = &donors->donors;
  if (groups) options.groups = values_of(*groups);
  if (alternatives != nullptr) {
    check_utf8(*alternatives);
    options.alternatives = alternatives->texts();
  }
  std::vector<PerturbedTexts> columns;
  try {
    const GilReleased no_gil;
    columns = perturb(texts.texts(), options, n_threads, check_signals);
  } catch (const InvalidAnswer& error) {
    throw invalid_utf8(texts.name(), error.row, error.byte);
  } catch (const TextTooLong& error) {
    throw too_long(texts.name(), error.row);
  }
  std::vector<BoundPerturbedTexts> all;
  for (PerturbedTexts& column : columns) all.push_back(bound(column));
  return all;
}

}  // namespace

void bind_perturbation(py::module_& module) {
  py::class_<BoundDonors>(module, "Donors", "Texts of which parts are put into others.")
      .def(py::init(&make_donors), py::arg("texts"), py::arg("groups"));
  py::class_<BoundPerturbedTexts>(module, "PerturbedTexts", "The damaged texts of one degree.")
      .def_property_readonly("texts", [](const BoundPerturbedTexts& self) { return self.texts; })
      .def_property_readonly("impossible", [](const BoundPerturbedTexts& self) { return to_array(self.impossible); });
  module.def("perturb", &perturb_texts, py::arg("texts"), py::arg("kind"), py::arg("amounts"), py::arg("are_absolute"),
             py::arg("seed"), py::arg("languages"), py::arg("donors"), py::arg("groups"), py::arg("alternatives"),
             py::arg("n_threads"), "Damages texts by the rule of a kind, in each of some degrees.");
}

}  // namespace pfgen
