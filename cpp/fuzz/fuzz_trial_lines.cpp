// Reads bytes as a file of trials. All lines of the file must be found. The texts of a line must be in the file or in
// the memory for unescaped texts, be valid UTF-8, and be equal when they are read from their plainest JSON.
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "makers/texts.hpp"
#include "pfgen/trial_lines.hpp"
#include "target.hpp"

namespace {

using namespace pfgen;
using fuzz::require;
using test::bytes_of;

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\n\r\v\f") == std::string_view::npos; }

bool lies_in(std::string_view part, std::string_view whole) {
  const std::less_equal<const char*> is_at_or_before;
  return is_at_or_before(whole.data(), part.data()) &&
         is_at_or_before(part.data() + part.size(), whole.data() + whole.size());
}

std::vector<std::string_view> split(std::string_view content) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  std::vector<std::string_view> lines;
  while (!content.empty()) {
    const std::size_t n = std::min(content.find('\n'), content.size());
    lines.push_back(content.substr(0, n));
    content.remove_prefix(std::min(n + 1, content.size()));
  }
  return lines;
}

void check_lines(const TrialLines& trials, std::string_view content) {
  const std::vector<std::string_view> lines = split(content);
  auto next = trials.lines.begin();
  for (std::size_t number = 0; number < lines.size(); ++number) {
    if (is_blank(lines[number])) continue;
    require(next != trials.lines.end() && next->number == number, "a line that is not blank is left out");
    require(next->content.data() == lines[number].data() && next->content.size() == lines[number].size(),
            "a line is not that of the file");
    ++next;
  }
  require(next == trials.lines.end(), "there are more lines than the file has");
}

void append_quoted(std::string_view text, std::string& json) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '"' || c == '\\') {
      json += {'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      json += c;
    }
  }
  json += '"';
}

// The value of the last of several equal keys.
std::string_view value_of(const std::vector<std::pair<std::string, std::string>>& texts, std::string_view key) {
  const auto match = std::find_if(texts.rbegin(), texts.rend(), [&](const auto& text) { return text.first == key; });
  require(match != texts.rend(), "a line lacks a text");
  return match->second;
}

void check_text(const TrialLines& trials, const TrialLine& line, const TextView& text) {
  const std::string_view bytes = bytes_of(text);
  const bool is_kept = lies_in(bytes, line.content) ||
                       std::ranges::any_of(trials.unescaped, [&](const auto& kept) { return lies_in(bytes, kept); });
  require(is_kept, "a text lies outside of its line");
}

void check_read(const TrialLines& trials, const TrialLine& line) {
  check_text(trials, line, line.question);
  check_text(trials, line, line.answer);
  std::vector<char32_t> code_points;
  require(decode(line.question, kNoError, code_points) == kNoError, "a question is invalid UTF-8");
  require(decode(line.answer, kNoError, code_points) == kNoError, "an answer is invalid UTF-8");
  require(line.answer_length == code_points.size(), "an answer has another length");

  std::string plain = "{\"question\":";
  append_quoted(bytes_of(line.question), plain);
  plain += ",\"answer\":";
  append_quoted(bytes_of(line.answer), plain);
  plain += '}';
  const TrialLines again(plain);
  require(again.lines.size() == 1 && again.lines[0].is_read, "the plainest JSON of a trial is not read");
  require(bytes_of(again.lines[0].question) == bytes_of(line.question), "a question reads differently again");
  require(bytes_of(again.lines[0].answer) == bytes_of(line.answer), "an answer reads differently again");
  require(again.lines[0].answer_length == line.answer_length, "an answer has another length again");

  if (const auto texts = texts_of(line.content)) {
    require(value_of(*texts, "question") == bytes_of(line.question), "a line and its texts differ in the question");
    require(value_of(*texts, "answer") == bytes_of(line.answer), "a line and its texts differ in the answer");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes) {
  // A copy, so that a sanitizer sees a read past its end.
  const std::vector<char> copy(data, data + n_bytes);
  const std::string_view content(copy.data(), copy.size());
  const TrialLines trials(content);
  check_lines(trials, content);
  bool is_any_read = false;
  for (const TrialLine& line : trials.lines) {
    if (line.is_read) check_read(trials, line);
    is_any_read = is_any_read || line.is_read;
  }
  fuzz::count(is_any_read);
  return 0;
}

std::vector<pfgen::fuzz::Input> pfgen::fuzz::seeds() {
  std::vector<Input> inputs;
  for (const std::string_view text : {
           std::string_view("\xEF\xBB\xBF{\"question\": \"水\", \"answer\": "
                            "\"雨が降る。\"}\r\n\n{\"answer\":\"a\",\"question\":\"q\"}"),
           std::string_view(
               R"({"question": "q\u3042", "answer": "\ud83d\ude00\n\"\\/\b\f\r\t", "n": [-1.5e3, {"k": null}]})"),
           std::string_view("{\"question\":\"q\",\"answer\":\"a\",\"answer\":\"b\"}\n[]\n \t\v\f\n{\"question\":1}\n"),
           std::string_view("{\"question\": \"12345678あいうえお😀é\", \"answer\": \"\", \"time\": true}\n"),
       }) {
    inputs.emplace_back(text.begin(), text.end());
  }
  return inputs;
}
