// What texts may take from others: against lists that are made anew for each text.
#include <algorithm>
#include <set>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "perturbation/distinct_texts.hpp"

namespace {

using namespace pfgen;
using namespace pfgen::test;

struct Given {
  Text text;
  std::uint32_t group;
};

std::vector<Given> drawn(Random& random) {
  std::vector<Given> all;
  const std::size_t n = random.between(0, 60), n_groups = random.between(1, 5);
  for (std::size_t i = 0; i < n; ++i) {
    const auto group = random.one_in(8) ? DistinctTexts::kShared : static_cast<std::uint32_t>(random.below(n_groups));
    all.push_back({random.text(U"ab氷", random.below(4)), group});
  }
  return all;
}

void a_text_takes_what_neither_its_group_nor_itself_has() {
  Random random(81);
  for (int i = 0; i < 400; ++i) {
    const std::vector<Given> given = drawn(random);
    DistinctTexts texts;
    for (const auto& [text, group] : given) texts.add(text, group);
    texts.sort();
    const auto group = static_cast<std::uint32_t>(random.below(6));
    std::set<Text> expected;
    for (const Given& one : given) {
      if (one.group == DistinctTexts::kShared || one.group != group) expected.insert(one.text);
    }
    std::vector<Text> own(random.below(4));
    for (Text& text : own) {
      text = random.text(U"ab氷", random.below(4));
      const bool is_there = std::any_of(given.begin(), given.end(), [&](const Given& one) { return one.text == text; });
      CHECK(is_there == (texts.find(text) != DistinctTexts::kAbsent));
      expected.erase(text);
    }
    Candidates candidates;
    candidates.reset(texts, group, std::vector<TextRef>(own.begin(), own.end()));
    CHECK(candidates.size() == expected.size());
    std::size_t n = 0;
    for (const Text& text : expected) CHECK(candidates[n++] == text);
  }
}

}  // namespace

int main() {
  a_text_takes_what_neither_its_group_nor_itself_has();
  return report("donors_test");
}
