// What shapes of rewards count in a batch of answers: lengths, repetition, and characters copied from other texts. A
// window is n code points in a row. Each function throws InvalidAnswer on invalid UTF-8; a null has NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pfgen/text.hpp"

namespace pfgen {

// The code points of each text, or `limit` for a longer text, which is not read to its end.
std::vector<double> count_code_points(std::span<const TextView> texts, std::size_t limit, std::size_t n_threads,
                                      const std::function<void()>& on_pause);

// The units of each text in profile normalised, so its length without punctuation and white space; or `limit`.
std::vector<double> count_units(std::span<const TextView> texts, std::size_t limit, std::size_t n_threads,
                                const std::function<void()>& on_pause);

// Of an answer with more than twice as many code points, windows are counted in its first and its last so many code
// points, joined.
inline constexpr std::size_t kCodePointsOfEnd = 10'000;

// 1 - different windows / all windows of each answer; 0 for an answer without windows. `n` is at least 1.
std::vector<double> repeated_shares(std::span<const TextView> texts, std::size_t n, std::size_t n_threads,
                                    const std::function<void()>& on_pause);

// Groups of texts from which answers may be copied. A group is prepared when it is first needed, and then kept.
class CopySources {
 public:
  // Group g has the texts from ends[g - 1] up to ends[g], which must outlive this object. Throws CompileError unless
  // `n` is at least 1 and the ends ascend up to the number of texts.
  CopySources(std::span<const TextView> texts, std::span<const std::int64_t> ends, std::size_t n);
  ~CopySources();

  std::size_t size() const noexcept { return n_groups_; }

  // The share of each answer's code points that lie in runs of at least n code points of one text of its group: the
  // largest share over these texts; 0 for an empty answer. Throws CompileError for an unknown group.
  std::vector<double> copied_shares(std::span<const TextView> answers, std::span<const std::int32_t> groups,
                                    std::size_t n_threads, const std::function<void()>& on_pause);

 private:
  struct Group;

  std::size_t n_;
  std::size_t n_groups_;
  std::unique_ptr<Group[]> groups_;
};

}  // namespace pfgen
