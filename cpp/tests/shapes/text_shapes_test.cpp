// Groups of texts that many threads prepare. Python compares the counts with plain counting; sanitizers check the runs
// of this file.
#include <cstdint>
#include <functional>
#include <vector>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "pfgen/text_shapes.hpp"

namespace pfgen::test {

const std::function<void()> kNoPause;

TEST(threads_prepare_each_group_once) {
  Random random(7);
  std::vector<Text> sources, answers;
  std::vector<std::int64_t> ends;
  std::vector<std::int32_t> groups;
  for (int group = 0; group < 9; ++group) {
    for (std::size_t n = random.below(6); n > 0; --n) sources.push_back(random.text(U"abc", random.below(60)));
    ends.push_back(static_cast<std::int64_t>(sources.size()));
  }
  sources.push_back(U"abcabc");
  ends.back() = static_cast<std::int64_t>(sources.size());
  for (int i = 0; i < 2000; ++i) {
    answers.push_back(random.splice(sources, U"abcd", random.below(50)));
    groups.push_back(static_cast<std::int32_t>(random.below(ends.size())));
  }
  const std::vector<TextView> source_views = views_of(sources);
  CopySources alone(source_views, ends, 4);
  const std::vector<double> expected = alone.copied_shares(views_of(answers), groups, 1, kNoPause);
  CHECK(std::ranges::any_of(expected, [](double share) { return share > 0 && share < 1; }));
  for (int round = 0; round < 5; ++round) {
    CopySources together(source_views, ends, 4);
    CHECK(same_bits(together.copied_shares(views_of(answers), groups, 4, kNoPause), expected));
  }
}

}  // namespace pfgen::test
