#include "pfgen/answer_record.hpp"

#include <algorithm>

#include "pfgen/json_writer.hpp"
#include "pfgen/trial_lines.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kHelpfulness = 2;  // columns of a row
constexpr std::size_t kAverage = 3;

using Texts = std::vector<std::pair<std::string, std::string>>;

bool is_plain(const Texts& texts) {
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : texts) keys.push_back(key);
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) == keys.end() && !std::ranges::binary_search(keys, "scores");
}

void write_sets(JsonWriter& json, const RecordForm& form, const std::vector<std::size_t>& columns,
                std::span<const double> row) {
  json.begin('{');
  for (std::size_t set = 0; set < columns.size(); ++set) {
    json.item();
    json.written(form.set_names[set]);
    json.written(": ");
    json.number(row[columns[set]]);
  }
  json.end('}');
}

void write_unmet(JsonWriter& json, const RecordForm& form, const CutAnswer& cut) {
  json.begin('[');
  for (const UnmetRule& unmet : cut.unmet) {
    json.item();
    json.begin('[');
    json.item();
    json.written(form.rule_names[unmet.named_by]);
    json.item();
    json.written(form.rule_scores[unmet.rule]);
    json.end(']');
  }
  if (cut.truncation > form.lengths.target && cut.score > 0) {
    json.item();
    json.begin('[');
    json.item();
    json.text(std::to_string(cut.truncation - form.lengths.target) + "\u5b57\u8d85\u904e");  // characters too many
    json.item();
    json.number(form.lengths.discount(cut.truncation));
    json.end(']');
  }
  json.end(']');
}

void write_scores(JsonWriter& json, const RecordForm& form, std::span<const double> row, const CutAnswer& cut) {
  json.begin('{');
  json.key("fluency");
  write_sets(json, form, form.fluency_columns, row);
  json.key("fluency_discount");
  json.number(1.0);
  json.key("truthfulness");
  write_sets(json, form, form.truthfulness_columns, row);
  json.key("helpfulness");
  json.number(row[kHelpfulness]);
  json.key("helpfulness_results");
  write_unmet(json, form, cut);
  json.key("average");
  json.number(row[kAverage]);
  json.end('}');
}

}  // namespace

std::optional<std::string> record_json(std::string_view line, const RecordForm& form, std::span<const double> row,
                                       const CutAnswer& cut, std::size_t depth) {
  const std::optional<Texts> texts = texts_of(line);
  if (!texts || !is_plain(*texts)) return std::nullopt;
  JsonWriter json(depth);
  json.begin('{');
  for (const auto& [key, value] : *texts) {
    if (key == "question") continue;
    json.key(key);
    json.text(value);
  }
  json.key("scores");
  write_scores(json, form, row, cut);
  json.end('}');
  return std::move(json).take();
}

}  // namespace pfgen
