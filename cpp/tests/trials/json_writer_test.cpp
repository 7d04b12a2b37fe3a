// JSON as Python writes it: hand-written literals.
#include "pfgen/json_writer.hpp"

#include <limits>

#include "makers/check.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

void a_number_is_the_repr_of_python() {
  CHECK(json_number(0.0) == "0.0");
  CHECK(json_number(-0.0) == "-0.0");
  CHECK(json_number(1.0) == "1.0");
  CHECK(json_number(0.1) == "0.1");
  CHECK(json_number(-84.5) == "-84.5");
  CHECK(json_number(0.728749) == "0.728749");
  CHECK(json_number(0.1 + 0.2) == "0.30000000000000004");
  CHECK(json_number(0.0001) == "0.0001");
  CHECK(json_number(0.00001) == "1e-05");
  CHECK(json_number(0.000012) == "1.2e-05");
  CHECK(json_number(123456789.0) == "123456789.0");
  CHECK(json_number(1e15) == "1000000000000000.0");
  CHECK(json_number(9007199254740994.0) == "9007199254740994.0");
  CHECK(json_number(1e16) == "1e+16");
  CHECK(json_number(1.5e300) == "1.5e+300");
  CHECK(json_number(5e-324) == "5e-324");
  CHECK(json_number(0x1p-44) == "5.684341886080802e-14");
  CHECK(json_number(std::numeric_limits<double>::quiet_NaN()) == "NaN");
  CHECK(json_number(std::numeric_limits<double>::infinity()) == "Infinity");
  CHECK(json_number(-std::numeric_limits<double>::infinity()) == "-Infinity");
}

std::string text_of(std::string_view utf8) {
  JsonWriter json(0);
  json.text(utf8);
  return std::move(json).take();
}

void a_text_has_the_escapes_of_python() {
  CHECK(text_of("") == "\"\"");
  CHECK(text_of("a\"b\\c") == R"("a\"b\\c")");
  CHECK(text_of("\b\f\n\r\t") == R"("\b\f\n\r\t")");
  CHECK(text_of(std::string_view("\0\x1f\x7f", 3)) == "\"\\u0000\\u001f\x7f\"");
  CHECK(text_of("\u6642\u8a08 \u2028") == "\"\u6642\u8a08 \u2028\"");
}

}  // namespace

int main() {
  a_number_is_the_repr_of_python();
  a_text_has_the_escapes_of_python();
  return report("json_writer_test");
}
