// Counts for shapes of rewards: literals, groups that many threads prepare, refused input. Python compares the counts
// with plain counting; sanitizers check the runs of this file.
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "makers/check.hpp"
#include "makers/random.hpp"
#include "pfgen/error.hpp"
#include "pfgen/text_shapes.hpp"

namespace pfgen::test {

const std::function<void()> kNoPause;

TEST(lengths_and_repeated_windows_are_counted) {
  const std::vector<Text> texts{U"", U"ab", U"aaaaa", U"日本日本"};
  std::vector<TextView> views = views_of(texts);
  views.push_back({.is_null = true});
  const std::vector<double> lengths = count_code_points(views, 1, kNoPause);
  CHECK(same_bits(std::span(lengths).first(4), std::vector{0.0, 2.0, 5.0, 4.0}) && std::isnan(lengths[4]));
  const std::vector<double> units =
      count_units(views_of(std::vector<Text>{U"", U"a, ｂ！。", U"3.5 ㌔."}), 1, kNoPause);
  CHECK(same_bits(std::span(units), std::vector{0.0, 2.0, 5.0}));
  const std::vector<double> shares = repeated_shares(views, 2, 1, kNoPause);
  CHECK(same_bits(std::span(shares).first(4), std::vector{0.0, 0.0, 0.75, 1.0 - 2.0 / 3.0}) && std::isnan(shares[4]));
}

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

TEST(invalid_input_is_refused) {
  const char bytes[] = "ab\xff";
  const std::vector<TextView> invalid{{bytes, 3, Encoding::kUtf8}};
  const std::vector<std::int64_t> ends{1}, descending{1, 0}, beyond{2};
  const std::vector<std::int32_t> first{0}, unknown{1}, negative{-1};
  const std::vector<Text> texts{U"abcdef"};
  const std::vector<TextView> valid = views_of(texts);
  CHECK_THROWS(InvalidAnswer, repeated_shares(invalid, 1, 1, kNoPause));
  CHECK_THROWS(InvalidAnswer, count_code_points(invalid, 1, kNoPause));
  CHECK_THROWS(InvalidAnswer, count_units(invalid, 1, kNoPause));
  CopySources broken(invalid, ends, 2);
  for (int i = 0; i < 2; ++i) CHECK_THROWS(InvalidAnswer, broken.copied_shares(valid, first, 1, kNoPause));
  CHECK_THROWS(CompileError, CopySources(valid, descending, 2));
  CHECK_THROWS(CompileError, CopySources(valid, beyond, 2));
  CHECK_THROWS(CompileError, CopySources(valid, ends, 0));
  CopySources sources(valid, ends, 2);
  CHECK_THROWS(CompileError, sources.copied_shares(valid, unknown, 1, kNoPause));
  CHECK_THROWS(CompileError, sources.copied_shares(valid, negative, 1, kNoPause));
  CHECK_THROWS(CompileError, sources.copied_shares(valid, std::span(first).first(0), 1, kNoPause));
}

}  // namespace pfgen::test
