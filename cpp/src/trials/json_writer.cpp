#include "pfgen/json_writer.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace pfgen {
namespace {

// Python writes exponents for numbers below 1e-4 and from 1e16 on.
constexpr int kFirstExponent = -4;
constexpr int kEndOfPlain = 16;

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

// A finite number that is not negative, from its shortest digits.
std::string finite(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view shortest(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));  // d.ddde+dd
  const std::size_t e = shortest.find('e');
  int exponent = 0;
  const char* const sign = shortest.data() + e + 1;
  std::from_chars(*sign == '+' ? sign + 1 : sign, end.ptr, exponent);
  if (exponent < kFirstExponent || exponent >= kEndOfPlain) return std::string(shortest);

  std::string digits(1, shortest[0]);
  if (e > 1) digits += shortest.substr(2, e - 2);
  if (exponent < 0) return "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto n_whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= n_whole) return digits + std::string(n_whole - digits.size(), '0') + ".0";
  return digits.insert(n_whole, 1, '.');
}

}  // namespace

std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  const std::string sign = std::signbit(value) ? "-" : "";
  return sign + (std::isinf(value) ? "Infinity" : finite(std::abs(value)));
}

void JsonWriter::begin(char bracket) {
  json_ += bracket;
  ++depth_;
  is_empty_ = true;
}

void JsonWriter::end(char bracket) {
  --depth_;
  if (!is_empty_) json_.append(1, '\n').append(2 * depth_, ' ');
  json_ += bracket;
  is_empty_ = false;
}

void JsonWriter::item() {
  if (!is_empty_) json_ += ',';
  json_.append(1, '\n').append(2 * depth_, ' ');
  is_empty_ = false;
}

void JsonWriter::key(std::string_view utf8) {
  item();
  text(utf8);
  json_ += ": ";
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

void JsonWriter::number(double value) { json_ += json_number(value); }

}  // namespace pfgen
