#include "pfgen/perturbation.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "perturbation/damage.hpp"
#include "perturbation/donor_tables.hpp"
#include "pfgen/error.hpp"
#include "system/parallel.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kTextsPerTask = 64;

template <class Unit>
void narrow(std::u32string_view text, unsigned char* out) {
  for (const char32_t c : text) {
    const Unit unit = static_cast<Unit>(c);
    std::memcpy(out, &unit, sizeof unit);
    out += sizeof unit;
  }
}

Encoding narrowest(std::u32string_view text) {
  char32_t all = 0;
  for (const char32_t c : text) all |= c;
  return all < 0x100 ? Encoding::kLatin1 : all < 0x10000 ? Encoding::kUcs2 : Encoding::kUcs4;
}

// Texts in as few bytes as they need, each in the narrowest encoding of a Python str.
class PackedTexts {
 public:
  void clear() noexcept {
    bytes_.clear();
    places_.clear();
  }
  void add_null() { places_.push_back({0, 0, Encoding::kLatin1, true}); }
  void add(std::u32string_view text) {
    const Encoding encoding = narrowest(text);
    const std::size_t size = unit_size(encoding);
    const std::size_t begin = (bytes_.size() + size - 1) / size * size;
    bytes_.resize(begin + size * text.size());
    places_.push_back({begin, text.size(), encoding, false});
    unsigned char* out = bytes_.data() + begin;
    switch (encoding) {
      case Encoding::kUcs2:
        narrow<std::uint16_t>(text, out);
        break;
      case Encoding::kUcs4:
        narrow<std::uint32_t>(text, out);
        break;
      default:
        narrow<unsigned char>(text, out);
    }
  }
  // Copies the bytes, and writes a view of each text into them.
  std::unique_ptr<unsigned char[]> copy(TextView* views) const {
    // Not make_unique, which would write zeros first.
    std::unique_ptr<unsigned char[]> bytes(new unsigned char[bytes_.size()]);
    std::copy(bytes_.begin(), bytes_.end(), bytes.get());
    for (const Place& place : places_)
      *views++ = {bytes.get() + place.begin, place.n_units, place.encoding, place.is_null};
    return bytes;
  }

 private:
  struct Place {
    std::size_t begin;  // byte
    std::size_t n_units;
    Encoding encoding;
    bool is_null;
  };
  std::vector<unsigned char> bytes_;
  std::vector<Place> places_;
};

std::vector<Kind> all_kinds() {
  std::vector<Kind> all;
  for (const auto kinds : {character_kinds(), word_kinds(), phrase_kinds(), term_kinds(), negation_kinds(),
                           sentence_kinds(), whole_text_kinds()}) {
    all.insert(all.end(), kinds.begin(), kinds.end());
  }
  return all;
}

Kind kind_of(std::string_view name) {
  for (const Kind& kind : all_kinds()) {
    if (kind.name == name) return kind;
  }
  throw std::invalid_argument("unknown kind '" + std::string(name) + "'");
}

// Damages texts one after the other, for one thread.
class Worker {
 public:
  Worker(std::span<const TextView> texts, const PerturbationOptions& options, std::vector<PerturbedTexts>& columns)
      : texts_(texts),
        options_(options),
        columns_(columns),
        kind_(kind_of(options.kind)),
        damage_(kind_.make()),
        packed_(columns.size()) {}

  void operator()(std::size_t task) {
    const std::size_t begin = task * kTextsPerTask;
    const std::size_t end = std::min(texts_.size(), begin + kTextsPerTask);
    for (PackedTexts& packed : packed_) packed.clear();
    for (std::size_t row = begin; row < end; ++row) {
      try {
        perturb(row);
      } catch (const std::length_error&) {
        throw TextTooLong(row, kMaxPerturbedCodePoints);
      }
    }
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      columns_[column].bytes[task] = packed_[column].copy(&columns_[column].texts[begin]);
    }
  }

 private:
  void perturb(std::size_t row) {
    const std::size_t error = original_.read(texts_[row], options_.languages[row]);
    if (error != kNoError) throw InvalidAnswer(row, error);
    damage_->read(
        {.original = original_,
         .kind = kind_.name,
         .seed = options_.seed,
         .degrees = options_.degrees,
         .donors = options_.donors != nullptr ? &options_.donors->tables() : nullptr,
         .group = options_.groups.empty() ? kNoGroup : options_.groups[row],
         .alternative = options_.alternatives.empty() ? TextView{.is_null = true} : options_.alternatives[row]});
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      damaged_.clear();
      const Impossible reason = checked(damage_->write(options_.degrees[column], damaged_));
      columns_[column].impossible[row] = static_cast<std::uint8_t>(reason);
      if (reason == Impossible::kNot) {
        packed_[column].add(damaged_.view());
      } else {
        packed_[column].add_null();
      }
    }
  }

  Impossible checked(Impossible reason) const {
    if (reason != Impossible::kNot) return reason;
    if (kind_.name != "identity" && damaged_.view() == original_.view()) {
      return Impossible::kUnchanged;
    }
    return damaged_.is_blank() ? Impossible::kNothingLeft : Impossible::kNot;
  }

  std::span<const TextView> texts_;
  const PerturbationOptions& options_;
  std::vector<PerturbedTexts>& columns_;
  Kind kind_;
  std::unique_ptr<Damage> damage_;
  Original original_;
  DamagedText damaged_;
  std::vector<PackedTexts> packed_;  // of each degree
};

}  // namespace

std::vector<std::string_view> perturbation_kinds() {
  std::vector<std::string_view> names;
  for (const Kind& kind : all_kinds()) names.push_back(kind.name);
  return names;
}

Donors::Donors(std::span<const TextView> texts, std::span<const std::uint32_t> groups)
    : tables_(std::make_unique<DonorTables>(texts, groups)) {}
Donors::Donors(Donors&&) noexcept = default;
Donors& Donors::operator=(Donors&&) noexcept = default;
Donors::~Donors() = default;

std::vector<PerturbedTexts> perturb(std::span<const TextView> texts, const PerturbationOptions& options,
                                    std::size_t n_threads, const std::function<void()>& on_pause) {
  const std::size_t n_tasks = (texts.size() + kTextsPerTask - 1) / kTextsPerTask;
  std::vector<PerturbedTexts> columns(options.degrees.size());
  for (PerturbedTexts& column : columns) {
    column.texts.resize(texts.size());
    column.impossible.resize(texts.size());
    column.bytes.resize(n_tasks);
  }
  run_parallel(n_tasks, n_threads, on_pause, [&] {
    return [worker = std::make_shared<Worker>(texts, options, columns)](std::size_t task) { (*worker)(task); };
  });
  return columns;
}

}  // namespace pfgen
