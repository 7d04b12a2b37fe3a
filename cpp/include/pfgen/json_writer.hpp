// Writes JSON as Python's json.dumps(..., ensure_ascii=False, indent=2) does, byte for byte; compact JSON has no
// spaces, and null for a number that is not finite.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace pfgen {

class JsonWriter {
 public:
  // `depth` is the number of enclosing objects and lists.
  explicit JsonWriter(std::size_t depth, bool is_compact = false) : depth_(depth), is_compact_(is_compact) {}

  // An object or a list: `bracket` is the one that begins or ends it.
  void begin(char bracket);
  void end(char bracket);
  // Begins the next member of an object or the next item of a list; its value is to follow.
  void key(std::string_view utf8);
  void item();

  void text(std::string_view utf8);  // valid UTF-8
  void number(double value);  // repr(value) of a Python float, or a name that JSON lacks: NaN, Infinity, -Infinity
  void written(std::string_view json) { json_ += json; }  // a value without line breaks

  std::string take() && { return std::move(json_); }

 private:
  void break_line();

  std::string json_;
  std::size_t depth_;
  bool is_compact_;
  bool is_empty_ = false;  // whether the object or list that is being written has nothing yet
};

}  // namespace pfgen
