// Runs all tests of a program.
#include "makers/check.hpp"

int main() {
  for (const auto test : pfgen::test::tests()) test();
  std::printf("%zu passed, %zu failed\n", pfgen::test::n_passed, pfgen::test::n_failed);
  return pfgen::test::n_failed == 0 ? 0 : 1;
}
