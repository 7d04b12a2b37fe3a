// Runs all tests of a program, or those whose names contain $PFGEN_TESTS_NAMED.
#include <cstdlib>

#include "makers/check.hpp"

int main() {
  const char* const part = std::getenv("PFGEN_TESTS_NAMED");
  for (const auto& [name, run] : pfgen::test::tests()) {
    if (part == nullptr || name.find(part) != name.npos) run();
  }
  std::printf("%zu passed, %zu failed\n", pfgen::test::n_passed, pfgen::test::n_failed);
  return pfgen::test::n_failed == 0 ? 0 : 1;
}
