#include "pfgen/keywords.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "pfgen/error.hpp"
#include "pfgen/positions.hpp"

namespace pfgen {
namespace {

// Which code points an answer holds, by their lowest bits: most patterns have one that it lacks.
class Present {
 public:
  explicit Present(std::u32string_view answer) {
    for (const char32_t c : answer) is_present_[c & 0xFF] = true;
  }
  bool may_hold(std::u32string_view text) const {
    return std::ranges::all_of(text, [this](char32_t c) { return is_present_[c & 0xFF]; });
  }

 private:
  std::array<bool, 256> is_present_{};
};

std::uint32_t end_of_match(std::u32string_view answer, const Present& present, std::u32string_view text,
                           const Positions* positions) {
  if (!present.may_hold(text)) return kNotFound;
  const std::size_t at = answer.find(text);
  if (at == std::u32string_view::npos) return kNotFound;
  const std::size_t end = at + text.size();
  return positions == nullptr ? static_cast<std::uint32_t>(end) : positions->position(end);
}

constexpr int kMaxDepth = 64;  // bounds recursion

// The first node after the subtree at `node`, which lies `depth` deep.
std::size_t skip(const std::vector<RuleNode>& nodes, std::size_t node, int depth = 1) {
  if (depth > kMaxDepth) throw CompileError("keyword rules: nested more than " + std::to_string(kMaxDepth) + " deep");
  if (node >= nodes.size()) throw CompileError("keyword rules: the parts of a rule are missing");
  const RuleNode& rule = nodes[node];
  const bool combines = rule.form == RuleNode::Form::kAnd || rule.form == RuleNode::Form::kOr;
  if (combines != (rule.n_parts != 0)) throw CompileError("keyword rules: only 'and' and 'or' have parts");
  ++node;
  for (std::uint32_t part = 0; part < rule.n_parts; ++part) node = skip(nodes, node, depth + 1);
  return node;
}

}  // namespace

// Walks the nodes once, in order, and takes the regex positions in the same order.
struct KeywordRules::Reader {
  const std::vector<RuleNode>& nodes;
  std::u32string_view answer;
  const std::uint32_t* next_regex_position;
  const Positions* positions;
  std::uint32_t missing;
  Present present{answer};
  std::uint32_t node = 0;

  RulePosition read() {
    const std::uint32_t own = node++;
    const RuleNode& rule = nodes[own];
    RulePosition match{0, own};
    if (rule.form == RuleNode::Form::kText) {
      match.position = end_of_match(answer, present, rule.text, positions);
    } else if (rule.form == RuleNode::Form::kRegex) {
      match.position = *next_regex_position++;
    } else {
      match = read();
      for (std::uint32_t part = 1; part < rule.n_parts; ++part) {
        const RulePosition other = read();
        // The first of equal parts decides.
        const bool decides =
            rule.form == RuleNode::Form::kAnd ? other.position > match.position : other.position < match.position;
        if (decides) match = other;
      }
      if (rule.is_named) match.named_by = own;
    }
    if (match.position == kNotFound) match.position = missing;
    return match;
  }
};

KeywordRules::KeywordRules(std::vector<RuleNode> nodes, std::uint32_t missing)
    : nodes_(std::move(nodes)), missing_(missing) {
  for (std::size_t node = 0; node < nodes_.size(); node = skip(nodes_, node)) {
    importances_.push_back(nodes_[node].importance);
  }
  n_regexes_ = static_cast<std::size_t>(std::count_if(
      nodes_.begin(), nodes_.end(), [](const RuleNode& node) { return node.form == RuleNode::Form::kRegex; }));
}

void KeywordRules::locate(std::u32string_view answer, std::span<const std::uint32_t> regex_positions,
                          std::vector<RulePosition>& out, const Positions* positions) const {
  Reader reader{nodes_, answer, regex_positions.data(), positions, missing_};
  out.clear();
  for (std::size_t rule = 0; rule < n_rules(); ++rule) out.push_back(reader.read());
}

}  // namespace pfgen
