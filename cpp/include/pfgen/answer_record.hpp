// The record of an answer in a result.json: docs/scoring.md, section 6, in the profile leaderboard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pfgen/constants.hpp"

namespace pfgen {

// The data that a question adds to the records of its answers. Names and scores of rules are JSON values without line
// breaks.
struct RecordForm {
  std::vector<std::string> set_names;
  std::vector<std::size_t> fluency_columns;  // of each set, in a row of scores
  std::vector<std::size_t> truthfulness_columns;
  std::vector<std::string> rule_names;   // of each node
  std::vector<std::string> rule_scores;  // the helpfulness without each rule
  Lengths lengths;
};

// A rule that is not met where the answer is cut, and the node that names it.
struct UnmetRule {
  std::size_t rule;
  std::uint32_t named_by;
};

// Where an answer is cut for its helpfulness, and the rules that are not met there.
struct CutAnswer {
  std::size_t truncation;
  double score;
  std::vector<UnmetRule> unmet;
};

// The JSON of a record inside `depth` objects and lists; `row` has its scores, one per column of a batch. Nothing if
// the line of the trial has values other than texts, a repeated key, or a key "scores".
std::optional<std::string> record_json(std::string_view line, const RecordForm& form, std::span<const double> row,
                                       const CutAnswer& cut, std::size_t depth);

}  // namespace pfgen
