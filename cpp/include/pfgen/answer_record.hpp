// The record of an answer in a result.json: docs/scoring.md, section 6, in the profile leaderboard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pfgen {

// What a question adds to the records of its answers. Names and scores of rules are JSON values without line breaks.
struct RecordForm {
  std::vector<std::string> set_names;
  std::vector<std::size_t> fluency_columns;  // of each set, in a row of scores
  std::vector<std::size_t> truthfulness_columns;
  std::vector<std::string> rule_names;   // of each node
  std::vector<std::string> rule_scores;  // what the helpfulness is without each rule
};

// A rule that is not met where the answer is cut, and the node that names it.
struct UnmetRule {
  std::size_t rule;
  std::uint32_t named_by;
};

// Where an answer is cut for its helpfulness, and what it lacks there.
struct CutAnswer {
  std::size_t truncation;
  double score;
  std::vector<UnmetRule> unmet;
};

// The JSON of a record that lies `depth` objects and lists deep; `row` are its scores, the columns of a batch. Nothing
// where the line of the trial is not plain: values that are no texts, a key twice, or a key "scores" of its own.
std::optional<std::string> record_json(std::string_view line, const RecordForm& form, std::span<const double> row,
                                       const CutAnswer& cut, std::size_t depth);

}  // namespace pfgen
