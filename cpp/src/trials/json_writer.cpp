#include "pfgen/json_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace pfgen {
namespace {

// Python writes exponents for numbers below 1e-4 and from 1e16 on.
constexpr double kFirstPlain = 1e-4;
constexpr double kEndOfPlain = 1e16;
constexpr double kFewDigits = 1e8;
constexpr std::uint64_t kMillion = 1'000'000;

bool is_escaped(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escape(std::string& json, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
  json += '\\';
  if (const std::size_t named = kNamed.find(c); named != kNamed.npos) {
    json += kNames[named];
  } else {
    json += "u00";
    json += kDigits[static_cast<unsigned char>(c) >> 4];
    json += kDigits[c & 0xF];
  }
}

// Appends repr(value) of a Python float.
void append_finite(std::string& json, double value) {
  std::array<char, 32> text;
  char* const begin = text.data();
  char* const limit = begin + text.size();
  const double size = std::abs(value);
  const bool is_plain = size == 0 || (size >= kFirstPlain && size < kEndOfPlain);
  // Two integers have the digits of a number with at most six decimals, as scores have, in a third of the time.
  const auto millionths = static_cast<std::uint64_t>(is_plain && size < kFewDigits ? size * kMillion + 0.5 : 0);
  if (is_plain && static_cast<double>(millionths) / kMillion == size) {
    if (std::signbit(value)) json += '-';
    json.append(begin, std::to_chars(begin, limit, millionths / kMillion).ptr);
    char* end = std::to_chars(begin, limit, kMillion + millionths % kMillion).ptr;
    *begin = '.';  // instead of the first digit, 1
    while (end[-1] == '0' && end > begin + 2) --end;
    json.append(begin, end);
    return;
  }
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  char* const end = std::to_chars(begin, limit, value, format).ptr;
  json.append(begin, end);
  if (is_plain && std::find(begin, end, '.') == end) json += ".0";
}

}  // namespace

void JsonWriter::begin(char bracket) {
  json_ += bracket;
  ++depth_;
  is_empty_ = true;
}

void JsonWriter::end(char bracket) {
  --depth_;
  if (!is_empty_) break_line();
  json_ += bracket;
  is_empty_ = false;
}

void JsonWriter::item() {
  if (!is_empty_) json_ += ',';
  break_line();
  is_empty_ = false;
}

void JsonWriter::key(std::string_view utf8) {
  item();
  text(utf8);
  json_ += is_compact_ ? ":" : ": ";
}

void JsonWriter::text(std::string_view utf8) {
  json_ += '"';
  std::size_t begin = 0;
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    if (!is_escaped(utf8[at])) continue;
    json_ += utf8.substr(begin, at - begin);
    append_escape(json_, utf8[at]);
    begin = at + 1;
  }
  json_ += utf8.substr(begin);
  json_ += '"';
}

void JsonWriter::number(double value) {
  if (std::isfinite(value)) return append_finite(json_, value);
  json_ += is_compact_ ? "null" : std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
}

void JsonWriter::break_line() {
  if (!is_compact_) json_.append(1, '\n').append(2 * depth_, ' ');
}

}  // namespace pfgen
