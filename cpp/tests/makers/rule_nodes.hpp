// Nodes of keyword rules.
#pragma once

#include <cstdint>
#include <utility>

#include "makers/texts.hpp"
#include "pfgen/keywords.hpp"

namespace pfgen::test {

inline RuleNode text_rule(Text text) { return {RuleNode::Form::kText, 0, std::move(text), false, 1.0}; }
inline RuleNode regex_rule() { return {RuleNode::Form::kRegex, 0, {}, false, 1.0}; }
inline RuleNode rule_of(RuleNode::Form form, std::uint32_t n_parts) { return {form, n_parts, {}, false, 1.0}; }

}  // namespace pfgen::test
