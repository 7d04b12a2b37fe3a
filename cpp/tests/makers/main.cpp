// Runs all tests of a program, or those whose names contain $PFGEN_TESTS_NAMED.
#include <cstdlib>

#include "makers/check.hpp"

int main() {
  const char* const part = std::getenv("PFGEN_TESTS_NAMED");
  std::size_t n_tests = 0;
  for (const auto& [name, run] : pfgen::test::tests()) {
    if (part != nullptr && name.find(part) == name.npos) continue;
    run();
    ++n_tests;
  }
  std::printf("%zu tests: %zu checks passed, %zu failed\n", n_tests, pfgen::test::n_passed, pfgen::test::n_failed);
  return pfgen::test::n_failed == 0 ? 0 : 1;
}
