// Tests register themselves, and checks are counted; main.cpp runs all tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

namespace pfgen::test {

inline std::size_t n_passed = 0;
inline std::size_t n_failed = 0;

inline void check(bool holds, const char* file, int line, const char* condition) {
  ++(holds ? n_passed : n_failed);
  if (!holds && n_failed <= 50) std::printf("%s:%d: %s\n", file, line, condition);
}

inline bool same_bits(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}

template <class Error, class Action>
bool throws(const Action& action) {
  try {
    action();
  } catch (const Error&) {
    return true;
  } catch (...) {
  }
  return false;
}

struct Test {
  std::string_view name;
  void (*run)();
};

// The tests of the program, in the order of their definition.
inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Registered {
  explicit Registered(const Test& test) { tests().push_back(test); }
};

#define CHECK(condition) pfgen::test::check((condition), __FILE__, __LINE__, #condition)
#define CHECK_THROWS(error, action) \
  pfgen::test::check(pfgen::test::throws<error>([&] { action; }), __FILE__, __LINE__, #action)
#define TEST(name)                                                 \
  static void name();                                              \
  static const pfgen::test::Registered k_##name({#name, &(name)}); \
  static void name()

}  // namespace pfgen::test
