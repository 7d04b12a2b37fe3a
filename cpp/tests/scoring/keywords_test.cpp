// Keyword rules that are refused. Python compares the others with the oracle.
#include "makers/check.hpp"
#include "makers/rule_nodes.hpp"
#include "pfgen/error.hpp"

namespace pfgen::test {
using Form = RuleNode::Form;

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
