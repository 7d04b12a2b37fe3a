// Lines of trials: what is read, what is left to the caller.
#include "pfgen/trial_lines.hpp"

#include <sstream>

#include "makers/check.hpp"
#include "makers/texts.hpp"

namespace pfgen::test {

TrialLine only_line(const TrialLines& trials) {
  CHECK(trials.lines.size() == 1);
  return trials.lines.at(0);
}

bool is_read(const std::string& line) { return only_line(TrialLines(line)).is_read; }

std::string with_value(const std::string& value) {
  return R"({"question": "q", "x": )" + value + R"(, "answer": "a"})";
}

TEST(texts_are_read_with_their_escapes) {
  const std::string line =
      "\xEF\xBB\xBF{ \"answer\" :\"\\u3042\\n\\\"\\ud83d\\uDE00\\\\\" , \"n\":1,\"question\":\"水\"}\r";
  const TrialLines trials(line);
  const TrialLine trial = only_line(trials);
  CHECK(trial.is_read);
  CHECK(bytes_of(trial.question) == "水");
  CHECK(bytes_of(trial.answer) == "あ\n\"😀\\");
  CHECK(trial.answer_length == 5);
}

TEST(a_text_without_escapes_is_a_view_of_the_content) {
  const std::string line = R"({"question": "q", "answer": "水だ"})";
  const TrialLines trials(line);
  const auto* data = static_cast<const char*>(only_line(trials).answer.data);
  CHECK(data >= line.data() && data < line.data() + line.size());
  CHECK(only_line(trials).answer_length == 2);
}

TEST(lines_keep_their_numbers) {
  const std::string content = "\n {\"question\": \"q\", \"answer\": \"b\"}\n\t\v\f \r\n[]\n";
  const TrialLines trials(content);
  CHECK(trials.lines.size() == 2);
  CHECK(trials.lines[0].number == 1 && trials.lines[0].is_read && bytes_of(trials.lines[0].answer) == "b");
  CHECK(trials.lines[1].number == 3 && !trials.lines[1].is_read && trials.lines[1].content == "[]");
}

TEST(a_line_that_repeats_a_key_is_left_to_the_caller) {
  for (const auto* line :
       {R"({"question": "q", "answer": "a", "answer": "b"})", R"({"a": 1, "question": "q", "answer": "a", "a": 1})",
        R"({"question": "q", "answer": "a", "b": [{"c": 1, "d": {"e": 2}, "c": 3}]})"}) {
    CHECK(!is_read(line));
    CHECK(!texts_of(line));
  }
  CHECK(is_read(R"({"question": "q", "answer": "a", "b": {"c": 1, "b": {"c": 1}, "d": {"c": 1}}})"));
}

TEST(only_plain_json_is_read) {
  for (const auto* value : {"0", "-1.5e+3", "1E2", "true", "false", "null", "\"\\/\\b\\f\\t\"", "{}", "[ ]",
                            R"([1, {"a": [null, "\u00e9"]}])"}) {
    CHECK(is_read(with_value(value)));
  }
  CHECK(!is_read(with_value(std::string(200, '9'))));
  CHECK(!is_read(with_value(std::string(100, '[') + std::string(100, ']'))));
  std::istringstream bad(R"(01 1. .5 +1 - 1e NaN Infinity tru 'a' [1,] {"a"} {a:1} "\x" "\u12g4" "\ud800"
                            "\ud800\u0041" "\udc00" "\)");
  for (std::string value; bad >> value;) CHECK(!is_read(with_value(value)));
  for (const auto* value : {"[1 2]", "\"\t\"", "\"\xFF\"", "\"\xE3\x81\"", ""}) CHECK(!is_read(with_value(value)));
  for (const auto* line : {"{}", "[]", "1", "{\"question\": \"q\"}", R"({"question": "q", "answer": 1})", "\x01",
                           R"({"question": "q", "answer": "a"} x)", R"({"question": "q", "answer": "a",})",
                           R"({"\u0071uestion": "q", "answer": "a"})"}) {
    CHECK(!is_read(line));
  }
}

// Several bytes are looked at together, so what is special must be seen wherever it stands among them.
TEST(every_place_of_a_text_is_looked_at) {
  for (const std::string usual : {"a", "あ"}) {
    for (std::size_t n_before = 0; n_before < 20; ++n_before) {
      for (std::size_t n_after = 0; n_after < 10; ++n_after) {
        std::string before, after;
        for (std::size_t i = 0; i < n_before; ++i) before += usual;
        for (std::size_t i = 0; i < n_after; ++i) after += usual;
        const auto line = [&](const std::string& text) { return R"({"question": "q", "answer": ")" + text + R"("})"; };
        for (const std::string special :
             {"\x1F", "\x01", "\"", "\\x", "\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xFF"}) {
          CHECK(!is_read(line(before + special + after)));
        }
        for (const std::string special : {"", " ", "~", "\x7F", "é", "ก", "\xED\x9F\xBF", "\xEF\xBF\xBF", "😀"}) {
          const std::string content = line(before + special + after);
          const TrialLines trials(content);
          CHECK(only_line(trials).is_read && bytes_of(only_line(trials).answer) == before + special + after);
          CHECK(only_line(trials).answer_length == n_before + n_after + (special.empty() ? 0 : 1));
        }
        const std::string content = line(before + "\\n" + after);
        const TrialLines escaped(content);
        CHECK(only_line(escaped).is_read && bytes_of(only_line(escaped).answer) == before + "\n" + after);
      }
    }
  }
}

TEST(lines_of_texts_are_given_whole) {
  using Texts = std::vector<std::pair<std::string, std::string>>;
  CHECK(texts_of(R"( {"a": "1", "水": "\n"} )") == Texts({{"a", "1"}, {"水", "\n"}}));
  CHECK(texts_of("{}") == Texts());
  for (const auto* line : {R"({"a": 1})", R"({"a": null})", R"({"a": "b", "c": []})", R"({"a": "\ud800"})", "[]", ""}) {
    CHECK(!texts_of(line));
  }
}

}  // namespace pfgen::test
