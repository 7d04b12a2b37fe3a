// Texts damaged by the rules of docs/discernment_rules.md, in kinds and degrees. The result depends only on the kind,
// the degree, the text, the seed and the donors. A character (a code point with the code points that join it) is never
// split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "pfgen/text.hpp"

namespace pfgen {

inline constexpr std::size_t kMaxPerturbedCodePoints = std::size_t{1} << 28;

enum class Language : std::uint8_t {
  kJapanese,
  kEnglish,
  kByText,  // Japanese if the text has hiragana, katakana or kanji
};

// The names of all kinds.
std::vector<std::string_view> perturbation_kinds();

// How many of a text's sites are damaged: a share of them in per mille (1 to 1,000), or a number (1 or more).
struct Degree {
  std::uint64_t amount = 1000;
  bool is_absolute = false;
};

// The first reason why a text cannot be damaged. The numbers are the same as in kinds.py.
enum class Impossible : std::uint8_t {
  kNot = 0,
  kNoSite = 1,
  kTooFewSites = 2,
  kNoCandidate = 3,
  kUnchanged = 4,
  kNothingLeft = 5,
};

// The texts of one degree. They are views of `bytes`, null where the damage is impossible.
struct PerturbedTexts {
  std::vector<TextView> texts;
  std::vector<std::uint8_t> impossible;  // of each text, an `Impossible`
  std::vector<std::unique_ptr<unsigned char[]>> bytes;
};

struct DonorTables;

// Texts whose parts are inserted into others. Immutable and thread-safe; tables of parts are made at their first use.
class Donors {
 public:
  // `texts` must be valid as long as the donors are used. A text may take from texts of other groups; without groups,
  // from all texts. Throws InvalidAnswer on invalid UTF-8 and TextTooLong.
  Donors(std::span<const TextView> texts, std::span<const std::uint32_t> groups);
  Donors(Donors&&) noexcept;
  Donors& operator=(Donors&&) noexcept;
  ~Donors();

  const DonorTables& tables() const noexcept { return *tables_; }

 private:
  std::unique_ptr<DonorTables> tables_;
};

struct PerturbationOptions {
  std::string_view kind = "identity";
  std::span<const Degree> degrees;  // kinds without degrees do with one of any amount
  std::uint64_t seed = 0;
  std::span<const Language> languages;     // of each text
  const Donors* donors = nullptr;          // without them, kinds that need some are impossible
  std::span<const std::uint32_t> groups;   // of each text among the donors' groups; empty: the texts have no groups
  std::span<const TextView> alternatives;  // of each text, some null, all valid; empty: no text has an alternative
};

// The damaged texts of each degree. Throws std::invalid_argument for an unknown kind, InvalidAnswer on invalid UTF-8,
// and TextTooLong if a text has, or would get, more than `kMaxPerturbedCodePoints`. The calling thread calls `on_pause`
// regularly; an exception from it ends the work of all threads.
std::vector<PerturbedTexts> perturb(std::span<const TextView> texts, const PerturbationOptions& options,
                                    std::size_t n_threads, const std::function<void()>& on_pause = {});

}  // namespace pfgen
