// Keyword rules: hand-written literals.
#include <utility>
#include <vector>

#include "makers/check.hpp"
#include "makers/rule_nodes.hpp"
#include "pfgen/error.hpp"

namespace pfgen::test {
using Form = RuleNode::Form;

bool locates(std::vector<RuleNode> nodes, std::vector<std::uint32_t> regex_positions, std::uint32_t position,
             std::uint32_t named_by) {
  std::vector<RulePosition> found(3);
  KeywordRules(std::move(nodes)).locate(U"a tide, an ebb, a tide", regex_positions, found);
  return found.size() == 1 && found[0].position == position && found[0].named_by == named_by;
}

TEST(and_takes_the_last_part_or_the_first) {
  const RuleNode tide = text_rule(U"tide"), ebb = text_rule(U"ebb"), moon = text_rule(U"moon");
  const RuleNode both = rule_of(Form::kAnd, 2), either = rule_of(Form::kOr, 2);
  CHECK(locates({both, tide, ebb}, {}, 14, 2));
  CHECK(locates({either, tide, ebb}, {}, 6, 1));
  CHECK(locates({both, moon, tide}, {}, 9999, 1));
  CHECK(locates({either, moon, tide}, {}, 6, 2));
  CHECK(locates({both, regex_rule(), regex_rule()}, {8, 8}, 8, 1));  // of equal parts the first names it
  CHECK(locates({either, regex_rule(), regex_rule()}, {8, 8}, 8, 1));
  CHECK(locates({either, moon, moon}, {}, 9999, 1));
  CHECK(locates({named(both), tide, ebb}, {}, 14, 0));
  CHECK(locates({both, tide, either, regex_rule(), regex_rule()}, {30, 20}, 20, 4));
  CHECK(locates({both, tide, named(either), regex_rule(), regex_rule()}, {30, 20}, 20, 2));
  CHECK(locates({rule_of(Form::kOr, 3), both, moon, regex_rule(), both, tide, ebb, regex_rule()}, {3, 14}, 14, 6));
}

TEST(only_and_and_or_have_parts) {
  const RuleNode leaf = text_rule(U"a");
  CHECK_THROWS(CompileError, KeywordRules({rule_of(Form::kAnd, 0)}));
  CHECK_THROWS(CompileError, KeywordRules({leaf, rule_of(Form::kOr, 0), leaf}));
  CHECK_THROWS(CompileError, KeywordRules({rule_of(Form::kAnd, 2), leaf}));
  CHECK_THROWS(CompileError, KeywordRules({rule_of(Form::kOr, 1), rule_of(Form::kAnd, 2), leaf}));
  CHECK_THROWS(CompileError, KeywordRules({rule_of(Form::kText, 1), leaf}));
  CHECK_THROWS(CompileError, KeywordRules({rule_of(Form::kRegex, 1), leaf}));
  const KeywordRules rules({leaf, rule_of(Form::kOr, 2), regex_rule(), regex_rule(), leaf});
  CHECK(rules.n_rules() == 3 && rules.n_regexes() == 2);
  CHECK(KeywordRules({}).n_rules() == 0);
}

}  // namespace pfgen::test
