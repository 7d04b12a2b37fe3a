// Typed errors of the core. The core never prints and never aborts; a message names the offending value.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace pfgen {

// References or rules that cannot be compiled.
struct CompileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Bytes that are not an index, or a damaged index.
struct IndexFormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An array of the Arrow C data interface that is not a column of texts or breaks the rules of the interface.
struct ArrowError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An answer of a batch that cannot be read.
struct InvalidAnswer : std::runtime_error {
  InvalidAnswer(std::size_t row_in, std::size_t byte_in)
      : std::runtime_error("row " + std::to_string(row_in) + ": invalid UTF-8 at byte " + std::to_string(byte_in)),
        row(row_in),
        byte(byte_in) {}
  std::size_t row;
  std::size_t byte;
};

}  // namespace pfgen
