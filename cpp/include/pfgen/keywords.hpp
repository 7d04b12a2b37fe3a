// Keyword rules and the positions at which an answer meets them. Plain text is searched here; for patterns with regex
// syntax the caller supplies the position. Immutable and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pfgen {

class Positions;

// Stands for the position of a pattern that does not match.
inline constexpr std::uint32_t kNotFound = 0xFFFFFFFF;

struct RuleNode {
  enum class Form : std::uint8_t { kText, kRegex, kAnd, kOr };
  Form form;
  std::uint32_t n_parts;  // children of kAnd, kOr; they follow in depth-first order
  std::u32string text;    // of kText
  bool is_named;          // has its own name
  double importance;      // of a top-level rule
};

// The end of the first match of a rule, and the node whose name reports show for the rule.
struct RulePosition {
  std::uint32_t position;
  std::uint32_t named_by;
};

class KeywordRules {
 public:
  // `nodes` in depth-first order. Throws CompileError if an `and` or `or` has no parts or lacks some, or if
  // they are nested too deeply. `missing` is the position of a pattern that does not match; rules compare positions.
  explicit KeywordRules(std::vector<RuleNode> nodes, std::uint32_t missing = 9999);

  std::size_t n_rules() const noexcept { return importances_.size(); }
  std::size_t n_regexes() const noexcept { return n_regexes_; }
  std::span<const double> importances() const noexcept { return importances_; }

  // Fills `out` with one entry per top-level rule. `regex_positions` has one per kRegex node, in order. `positions`
  // has the position of the end of a match in the answer; by default it is the end itself.
  void locate(std::u32string_view answer, std::span<const std::uint32_t> regex_positions,
              std::vector<RulePosition>& out, const Positions* positions = nullptr) const;

 private:
  struct Reader;

  std::vector<RuleNode> nodes_;
  std::uint32_t missing_;
  std::vector<double> importances_;
  std::size_t n_regexes_ = 0;
};

}  // namespace pfgen
