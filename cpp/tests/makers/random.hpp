// Random choices that are the same on every platform, unlike the distributions of <random>.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "makers/texts.hpp"

namespace pfgen::test {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  double unit() { return static_cast<double>(engine_()) / 4294967296.0; }
  template <class Choices>
  auto pick(const Choices& choices) {
    return choices[below(choices.size())];
  }
  Text text(TextRef alphabet, std::size_t n) {
    Text text(n, U' ');
    for (char32_t& c : text) c = pick(alphabet);
    return text;
  }
  // Pieces of the references, and now and then a character of the alphabet.
  Text splice(const std::vector<Text>& references, TextRef alphabet, std::size_t n) {
    Text text;
    while (text.size() < n) {
      const Text& from = references[below(references.size())];
      const std::size_t at = below(from.size() + 1);
      text += one_in(3) ? Text(1, pick(alphabet)) : from.substr(at, between(1, 40));
    }
    text.resize(n);
    return text;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace pfgen::test
