// Counts the executed basic blocks of code that was compiled with -fsanitize-coverage=trace-pc. The count does not
// depend on the machine or its load. For one thread.
#pragma once

#include <cstdint>

namespace pfgen::test {

// Since the program began.
std::uint64_t n_blocks_run() noexcept;

// The blocks that `work` runs.
template <class Work>
std::uint64_t blocks_of(const Work& work) {
  const std::uint64_t before = n_blocks_run();
  work();
  return n_blocks_run() - before;
}

}  // namespace pfgen::test
