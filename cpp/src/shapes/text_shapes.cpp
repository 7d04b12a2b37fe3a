#include "pfgen/text_shapes.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include "pfgen/error.hpp"
#include "pfgen/normalised_text.hpp"
#include "shapes/window_numbers.hpp"
#include "system/parallel.hpp"

namespace pfgen {
namespace {

constexpr std::size_t kRowsOfTask = 64;
constexpr std::size_t kMostCodePoints = 0x7FFFFFFF;  // of a text, or of all texts of a group

void read(const TextView& text, std::size_t row, std::vector<char32_t>& code_points,
          std::size_t limit = kMostCodePoints) {
  const std::size_t fault = decode(text, limit, code_points);
  if (fault != kNoError) throw InvalidAnswer(row, fault);
}

// The values of all rows; `make_worker()` makes a function of a row and its text.
template <class MakeWorker>
std::vector<double> values_of_rows(std::span<const TextView> texts, std::size_t n_threads,
                                   const std::function<void()>& on_pause, const MakeWorker& make_worker) {
  std::vector<double> values(texts.size(), std::numeric_limits<double>::quiet_NaN());
  const std::size_t n_tasks = (texts.size() + kRowsOfTask - 1) / kRowsOfTask;
  run_parallel(n_tasks, n_threads, on_pause, [&] {
    return [&, value_of = make_worker()](std::size_t task) mutable {
      const std::size_t end = std::min(texts.size(), (task + 1) * kRowsOfTask);
      for (std::size_t row = task * kRowsOfTask; row < end; ++row) {
        if (!texts[row].is_null) values[row] = value_of(row, texts[row]);
      }
    };
  });
  return values;
}

// The last `n` code points of a valid text that has more.
TextView end_of(const TextView& text, std::size_t n) {
  std::size_t begin = text.n_units;
  const auto* const bytes = static_cast<const unsigned char*>(text.data);
  for (std::size_t i = 0; i < n && begin > 0; ++i) {
    --begin;
    while (text.encoding == Encoding::kUtf8 && begin > 0 && (bytes[begin] & 0xC0) == 0x80) --begin;  // to the lead byte
  }
  return {bytes + begin * unit_size(text.encoding), text.n_units - begin, text.encoding};
}

// Reads what windows are counted in.
void read_ends(const TextView& text, std::size_t row, std::vector<char32_t>& code_points,
               std::vector<char32_t>& end_points) {
  read(text, row, code_points, 2 * kCodePointsOfEnd + 1);
  if (code_points.size() <= 2 * kCodePointsOfEnd) return;
  read(end_of(text, kCodePointsOfEnd), row, end_points);
  std::ranges::copy(end_points, code_points.begin() + kCodePointsOfEnd);
  code_points.pop_back();
}

// As above, with a function of a row and the code points in which windows are counted.
template <class MakeWorker>
std::vector<double> values_of_windows(std::span<const TextView> texts, std::size_t n_threads,
                                      const std::function<void()>& on_pause, const MakeWorker& make_worker) {
  return values_of_rows(texts, n_threads, on_pause, [&] {
    return [value_of = make_worker(), code_points = std::vector<char32_t>(), end_points = std::vector<char32_t>()](
               std::size_t row, const TextView& text) mutable {
      read_ends(text, row, code_points, end_points);
      return value_of(row, std::span<const char32_t>(code_points));
    };
  });
}

}  // namespace

std::vector<double> count_code_points(std::span<const TextView> texts, std::size_t limit, std::size_t n_threads,
                                      const std::function<void()>& on_pause) {
  return values_of_rows(texts, n_threads, on_pause, [limit] {
    return [limit, code_points = std::vector<char32_t>()](std::size_t row, const TextView& text) mutable {
      if (text.encoding != Encoding::kUtf8) return static_cast<double>(std::min(text.n_units, limit));
      read(text, row, code_points, limit);
      return static_cast<double>(code_points.size());
    };
  });
}

std::vector<double> count_units(std::span<const TextView> texts, std::size_t limit, std::size_t n_threads,
                                const std::function<void()>& on_pause) {
  return values_of_rows(texts, n_threads, on_pause, [limit] {
    return [limit, normalised = NormalisedText()](std::size_t row, const TextView& text) mutable {
      const std::size_t fault = normalised.read(text, limit);
      if (fault != kNoError) throw InvalidAnswer(row, fault);
      return static_cast<double>(std::min(normalised.units().size(), limit));
    };
  });
}

std::vector<double> repeated_shares(std::span<const TextView> texts, std::size_t n, std::size_t n_threads,
                                    const std::function<void()>& on_pause) {
  return values_of_windows(texts, n_threads, on_pause, [n] {
    return [n, windows = WindowNumbers()](std::size_t, std::span<const char32_t> text) mutable {
      if (text.size() < n) return 0.0;
      windows.reset(text, n);
      for_each_window(text, n, [&](std::size_t offset, std::uint64_t hash) { windows.add(offset, hash); });
      return 1.0 - static_cast<double>(windows.size()) / static_cast<double>(text.size() - n + 1);
    };
  });
}

// The different windows of the texts of a group, and for each window the texts that have it.
struct CopySources::Group {
  std::span<const TextView> texts;
  std::size_t first_row = 0;  // of these texts among the texts of all groups
  std::mutex mutex;           // of the preparation; std::call_once hangs under a sanitizer if the preparation throws
  std::atomic<bool> is_prepared{false};
  std::vector<char32_t> code_points;
  WindowNumbers windows;
  std::vector<std::size_t> begin;      // of the texts of each window, then the end of the last
  std::vector<std::uint32_t> holders;  // the texts

  void prepare(std::size_t n) {
    code_points.clear();  // after a failure
    std::vector<std::size_t> ends;
    std::vector<char32_t> text_code_points;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      read(texts[i], first_row + i, text_code_points);
      if (code_points.size() + text_code_points.size() > kMostCodePoints) {
        throw CompileError("the texts for an answer have more than 2,147,483,647 characters");
      }
      code_points.insert(code_points.end(), text_code_points.begin(), text_code_points.end());
      ends.push_back(code_points.size());
    }
    windows.reset(code_points, n);
    std::vector<std::uint32_t> numbers, holders_of_numbers, last_holder;
    std::size_t first = 0;
    for (std::uint32_t text = 0; text < ends.size(); ++text) {
      const auto own = std::span<const char32_t>(code_points).subspan(first, ends[text] - first);
      for_each_window(own, n, [&](std::size_t offset, std::uint64_t hash) {
        const std::uint32_t number = windows.add(first + offset, hash);
        if (number == last_holder.size()) last_holder.push_back(WindowNumbers::kUnknown);
        if (last_holder[number] == text) return;
        last_holder[number] = text;
        numbers.push_back(number);
        holders_of_numbers.push_back(text);
      });
      first = ends[text];
    }
    begin.assign(windows.size() + 1, 0);
    for (const std::uint32_t number : numbers) ++begin[number + 1];
    for (std::size_t i = 0; i < windows.size(); ++i) begin[i + 1] += begin[i];
    holders.resize(numbers.size());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) holders[next[numbers[i]]++] = holders_of_numbers[i];
  }

  // The most code points of `answer` in windows of one text. `ends` and `n_copied` have a zero for each text, and again
  // after the call.
  std::size_t most_copied(std::span<const char32_t> answer, std::size_t n, std::vector<std::size_t>& ends,
                          std::vector<std::size_t>& n_copied, std::vector<std::uint32_t>& touched) const {
    std::size_t most = 0;
    for_each_window(answer, n, [&](std::size_t offset, std::uint64_t hash) {
      const std::uint32_t number = windows.find(answer.data() + offset, hash);
      if (number == WindowNumbers::kUnknown) return;
      for (std::size_t i = begin[number]; i < begin[number + 1]; ++i) {
        const std::uint32_t text = holders[i];
        if (ends[text] == 0) touched.push_back(text);
        n_copied[text] += offset + n - std::max(ends[text], offset);
        ends[text] = offset + n;
        most = std::max(most, n_copied[text]);
      }
    });
    for (const std::uint32_t text : touched) ends[text] = n_copied[text] = 0;
    touched.clear();
    return most;
  }
};

CopySources::CopySources(std::span<const TextView> texts, std::span<const std::int64_t> ends, std::size_t n)
    : n_(n), n_groups_(ends.size()), groups_(std::make_unique<Group[]>(ends.size())) {
  if (n == 0) throw CompileError("expected runs of at least 1 character");
  std::size_t first = 0;
  for (std::size_t g = 0; g < ends.size(); ++g) {
    const auto end = static_cast<std::size_t>(ends[g]);
    if (end < first || end > texts.size()) throw CompileError("the ends of the groups do not ascend");
    groups_[g].texts = texts.subspan(first, end - first);
    groups_[g].first_row = first;
    first = end;
  }
}

CopySources::~CopySources() = default;

std::vector<double> CopySources::copied_shares(std::span<const TextView> answers, std::span<const std::int32_t> groups,
                                               std::size_t n_threads, const std::function<void()>& on_pause) {
  if (groups.size() != answers.size()) throw CompileError("expected a group for each answer");
  for (const std::int32_t group : groups) {
    if (static_cast<std::size_t>(group) >= n_groups_) throw CompileError("an answer has an unknown group");
  }
  return values_of_windows(answers, n_threads, on_pause, [&] {
    return [this, groups, ends = std::vector<std::size_t>(), n_copied = std::vector<std::size_t>(),
            touched = std::vector<std::uint32_t>()](std::size_t row, std::span<const char32_t> answer) mutable {
      if (answer.size() < n_) return 0.0;
      Group& group = groups_[static_cast<std::size_t>(groups[row])];
      if (!group.is_prepared) {
        const std::scoped_lock lock(group.mutex);
        if (!group.is_prepared) group.prepare(n_);
        group.is_prepared = true;
      }
      if (ends.size() < group.texts.size()) {
        ends.resize(group.texts.size());
        n_copied.resize(group.texts.size());
      }
      const std::size_t n_most = group.most_copied(answer, n_, ends, n_copied, touched);
      return static_cast<double>(n_most) / static_cast<double>(answer.size());
    };
  });
}

}  // namespace pfgen
