// The records of answers: hand-written literals, and the lines that are left to the caller.
#include "pfgen/answer_record.hpp"

#include "makers/check.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

const RecordForm kForm{{"\"R\""}, {4}, {5}, {"\"a\"", "null"}, {"0.5", "0"}};
const std::vector<double> kRow{0.75, 1.0, 0.25, 0.5, 0.75, 1.0};

void a_record_has_the_texts_of_its_line_without_the_question_and_its_scores() {
  const auto found = record_json(R"({"answer": "b\n", "question": "q", "at": "x"})", kForm, kRow, {90, 1.0, {}}, 0);
  CHECK(
      found ==
      "{\n  \"answer\": \"b\\n\",\n  \"at\": \"x\",\n  \"scores\": {\n    \"fluency\": {\n      \"R\": 0.75\n    },\n"
      "    \"fluency_discount\": 1.0,\n    \"truthfulness\": {\n      \"R\": 1.0\n    },\n    \"helpfulness\": 0.25,\n"
      "    \"helpfulness_results\": [],\n    \"average\": 0.5\n  }\n}");
}

void a_record_names_what_an_answer_lacks_and_how_much_is_too_long() {
  const auto found = record_json(R"({"question": "q"})", kForm, kRow, {125, 0.5, {{0, 1}, {1, 0}}}, 0);
  CHECK(found && found->find("\"helpfulness_results\": [\n      [\n        null,\n        0.5\n      ],\n      [\n"
                             "        \"a\",\n        0\n      ],\n      [\n        \"25\u5b57\u8d85\u904e\",\n"
                             "        0.5\n      ]\n    ],") != std::string::npos);
  const auto without_score = record_json(R"({"question": "q"})", kForm, kRow, {125, 0.0, {}}, 0);
  CHECK(without_score && without_score->find("\"helpfulness_results\": [],") != std::string::npos);
}

void what_is_not_plain_is_left_to_the_caller() {
  for (const char* line : {R"({"answer": "b", "n": 1})", R"({"a": "b", "a": "c"})", R"({"scores": "b"})",
                           R"({"answer": "\ud800"})", R"({"answer": NaN})", "", "{"}) {
    CHECK(!record_json(line, kForm, kRow, {90, 1.0, {}}, 0));
  }
}

}  // namespace

int main() {
  a_record_has_the_texts_of_its_line_without_the_question_and_its_scores();
  a_record_names_what_an_answer_lacks_and_how_much_is_too_long();
  what_is_not_plain_is_left_to_the_caller();
  return report("answer_record_test");
}
