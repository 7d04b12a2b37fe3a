#include "pfgen/trial_lines.hpp"

#include <algorithm>
#include <array>

#include "system/little_endian.hpp"
#include "text/utf8.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kMaxDepth = 64;    // of nested values; deeper ones are left to the caller
constexpr std::size_t kMaxKeys = 64;     // of all objects that are open; lines with more are left to the caller
constexpr std::size_t kMaxNumber = 100;  // characters; some parsers limit the digits of an integer

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The blank lines of Python's bytes.isspace.
bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\n\r\v\f") == line.npos; }

// Whether eight characters are all literal within a string.
bool is_plain_ascii(std::uint64_t bytes) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  const auto lacks = [&](char c) { return is_ascii((bytes ^ kEach * static_cast<unsigned char>(c)) - kEach); };
  return is_ascii(bytes) && is_ascii(bytes - kEach * 0x20) && lacks('"') && lacks('\\');
}

// The raw characters of a string between its quotes.
struct RawString {
  std::string_view bytes;
  std::size_t length = 0;  // code points, an escape counting as its characters
  bool has_escapes = false;
};

// Reads one line; every function returns false if the line has another form.
class LineReader {
 public:
  LineReader(std::string_view line, std::deque<std::string>& unescaped) : rest_(line), unescaped_(unescaped) {}

  bool read(TrialLine& line) {
    bool has_question = false;
    bool has_answer = false;
    const auto member = [&](std::string_view key) {
      if (key == "question") return has_question = text(line.question, nullptr);
      if (key == "answer") return has_answer = text(line.answer, &line.answer_length);
      return value(1);
    };
    return whole_object(member) && has_question && has_answer;
  }

  bool read(std::vector<std::pair<std::string, std::string>>& texts) {
    return whole_object([&](std::string_view key) {
      TextView value;
      if (!text(value, nullptr)) return false;
      texts.emplace_back(key, std::string(static_cast<const char*>(value.data), value.n_units));
      return true;
    });
  }

 private:
  template <class Member>
  bool whole_object(const Member& member) {
    skip_space();
    if (!object(member)) return false;
    skip_space();
    return rest_.empty();
  }

  bool take(char expected) {
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r')) rest_.remove_prefix(1);
  }

  // Members in order; false where two have the same key.
  template <class Member>
  bool object(const Member& member) {
    const std::size_t first = n_keys_;
    const auto pair = [&] {
      RawString key;
      if (!string(key) || key.has_escapes || n_keys_ == kMaxKeys) return false;
      const auto end = keys_.begin() + static_cast<std::ptrdiff_t>(n_keys_);
      if (std::find(keys_.begin() + static_cast<std::ptrdiff_t>(first), end, key.bytes) != end) return false;
      keys_[n_keys_++] = key.bytes;
      skip_space();
      if (!take(':')) return false;
      skip_space();
      return member(key.bytes);
    };
    const bool is_object = take('{') && items(pair, '}');
    n_keys_ = first;
    return is_object;
  }

  template <class Item>
  bool items(const Item& item, char close) {
    skip_space();
    if (take(close)) return true;
    while (item()) {
      skip_space();
      if (take(close)) return true;
      if (!take(',')) return false;
      skip_space();
    }
    return false;
  }

  bool value(std::size_t depth) {
    if (rest_.empty() || depth > kMaxDepth) return false;
    RawString skipped;
    switch (rest_.front()) {
      case '"':
        return string(skipped) && (!skipped.has_escapes || unescape(skipped).has_value());
      case '{':
        return object([&](std::string_view) { return value(depth + 1); });
      case '[':
        return take('[') && items([&] { return value(depth + 1); }, ']');
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool word(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  bool number() {
    const std::size_t before = rest_.size();
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return before - rest_.size() <= kMaxNumber;
  }

  bool digits() {
    const auto n = static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_digit) - rest_.begin());
    rest_.remove_prefix(n);
    return n > 0;
  }

  bool string(RawString& raw) {
    if (!take('"')) return false;
    const auto* bytes = reinterpret_cast<const unsigned char*>(rest_.data());
    const std::size_t n = rest_.size();
    std::size_t at = 0;
    const auto pass = [&](std::size_t n_bytes, std::size_t n_code_points) {
      at += n_bytes;
      raw.length += n_code_points;
    };
    while (at < n && bytes[at] != '"') {
      const std::uint64_t next = n - at >= 8 ? number_at<std::uint64_t>(bytes + at) : 0;  // zeros are neither
      if (has_two_triples(next)) {
        pass(6, 2);
      } else if (is_plain_ascii(next)) {
        pass(8, 8);
      } else {
        if (bytes[at] < 0x20) return false;
        if (bytes[at] == '\\') {
          raw.has_escapes = true;
          if (++at == n) return false;  // the escaped character may be a quote
        }
        const std::size_t length = utf8_sequence_length(bytes + at, n - at);
        if (length == 0) return false;
        pass(length, 1);
      }
    }
    if (at == n) return false;
    raw.bytes = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    return true;
  }

  bool text(TextView& view, std::size_t* length) {
    RawString raw;
    if (!string(raw)) return false;
    if (raw.has_escapes) {
      auto plain = unescape(raw);
      if (!plain) return false;
      raw.bytes = unescaped_.emplace_back(std::move(*plain));
      const auto is_lead = [](char c) { return (c & 0xC0) != 0x80; };
      raw.length = static_cast<std::size_t>(std::ranges::count_if(raw.bytes, is_lead));
    }
    view = {raw.bytes.data(), raw.bytes.size(), Encoding::kUtf8};
    if (length != nullptr) *length = raw.length;
    return true;
  }

  static std::optional<std::string> unescape(const RawString& raw) {
    std::string plain;
    plain.reserve(raw.bytes.size());
    std::string_view rest = raw.bytes;
    while (!rest.empty()) {
      const std::size_t n = std::min(rest.find('\\'), rest.size());
      plain += rest.substr(0, n);
      rest.remove_prefix(n);
      if (!rest.empty() && !unescape_one(rest, plain)) return std::nullopt;
    }
    return plain;
  }

  static bool unescape_one(std::string_view& rest, std::string& plain) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const char name = rest[1];
    rest.remove_prefix(2);
    if (name == 'u') {
      const auto value = code_point(rest);
      std::array<unsigned char, 4> bytes;
      if (value) plain.append(bytes.data(), write_utf8(*value, bytes.data()));
      return value.has_value();
    }
    const std::size_t known = kNames.find(name);
    if (known == kNames.npos) return false;
    plain += kValues[known];
    return true;
  }

  // The digits behind \u, and a second escape where they are the first half of a pair; no lone halves.
  static std::optional<char32_t> code_point(std::string_view& rest) {
    const auto first = hex(rest);
    if (!first || *first < 0xD800 || *first > 0xDFFF) return first;
    if (*first > 0xDBFF || !rest.starts_with("\\u")) return std::nullopt;
    rest.remove_prefix(2);
    const auto second = hex(rest);
    if (!second || *second < 0xDC00 || *second > 0xDFFF) return std::nullopt;
    return 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00);
  }

  static std::optional<char32_t> hex(std::string_view& rest) {
    if (rest.size() < 4) return std::nullopt;
    char32_t value = 0;
    for (const char c : rest.substr(0, 4)) {
      const char lower = static_cast<char>(c | 0x20);
      if (!is_digit(c) && (lower < 'a' || lower > 'f')) return std::nullopt;
      value = value << 4 | static_cast<char32_t>(is_digit(c) ? c - '0' : lower - 'a' + 10);
    }
    rest.remove_prefix(4);
    return value;
  }

  std::string_view rest_;
  std::array<std::string_view, kMaxKeys> keys_;
  std::size_t n_keys_ = 0;
  std::deque<std::string>& unescaped_;
};

}  // namespace

TrialLines::TrialLines(std::string_view content) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (content.starts_with(kByteOrderMark)) content.remove_prefix(kByteOrderMark.size());
  for (std::size_t number = 0; !content.empty(); ++number) {
    const std::string_view line = content.substr(0, content.find('\n'));
    content.remove_prefix(std::min(line.size() + 1, content.size()));
    if (is_blank(line)) continue;
    TrialLine& trial = lines.emplace_back(TrialLine{number, line, false, {}, {}, 0});
    trial.is_read = LineReader(line, unescaped).read(trial);
  }
}

std::optional<std::vector<std::pair<std::string, std::string>>> texts_of(std::string_view line) {
  std::vector<std::pair<std::string, std::string>> texts;
  std::deque<std::string> unescaped;
  if (!LineReader(line, unescaped).read(texts)) return std::nullopt;
  return texts;
}

}  // namespace pfgen
