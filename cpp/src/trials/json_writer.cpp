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

}  // namespace

std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  const double size = std::abs(value);
  const bool is_plain = size == 0 || (size >= kFirstPlain && size < kEndOfPlain);
  // Two integers have the digits of a number with at most six decimals, as scores have, in a third of the time.
  const auto millionths = static_cast<std::uint64_t>(is_plain && size < kFewDigits ? size * kMillion + 0.5 : 0);
  if (is_plain && static_cast<double>(millionths) / kMillion == size) {
    std::string digits = std::signbit(value) ? "-" : "";
    digits += std::to_string(millionths / kMillion);
    const std::size_t point = digits.size();
    digits += std::to_string(kMillion + millionths % kMillion);
    digits[point] = '.';  // instead of the first digit, 1
    digits.resize(std::max(digits.find_last_not_of('0') + 1, point + 2));
    return digits;
  }
  std::array<char, 32> buffer;
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  std::string digits(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr);
  if (is_plain && digits.find('.') == std::string::npos) digits += ".0";
  return digits;
}

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

void JsonWriter::number(double value) { json_ += is_compact_ && !std::isfinite(value) ? "null" : json_number(value); }

void JsonWriter::break_line() {
  if (!is_compact_) json_.append(1, '\n').append(2 * depth_, ' ');
}

}  // namespace pfgen
