// Lines of trials: texts at every place of a machine word. Python compares lines with its own JSON, and a fuzz target
// compares them with their plainest JSON.
#include "pfgen/trial_lines.hpp"

#include "makers/check.hpp"
#include "makers/texts.hpp"

namespace pfgen::test {

TrialLine only_line(const TrialLines& trials) {
  CHECK(trials.lines.size() == 1);
  return trials.lines.at(0);
}

bool is_read(const std::string& line) { return only_line(TrialLines(line)).is_read; }

TEST(a_text_without_escapes_is_a_view_of_the_content) {
  const std::string line = R"({"question": "q", "answer": "水だ"})";
  const TrialLines trials(line);
  const auto* data = static_cast<const char*>(only_line(trials).answer.data);
  CHECK(data >= line.data() && data < line.data() + line.size());
  CHECK(only_line(trials).answer_length == 2);
}

// Several bytes are read together, so a special byte must be found at any place among them.
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

}  // namespace pfgen::test
