// Compiled without the option, so that the counter does not count itself.
#include "makers/block_counter.hpp"

namespace {
std::uint64_t n_blocks = 0;
}

// The compiler puts a call to this at the beginning of every block.
extern "C" void __sanitizer_cov_trace_pc();
extern "C" void __sanitizer_cov_trace_pc() { ++n_blocks; }

std::uint64_t pfgen::test::n_blocks_run() noexcept { return n_blocks; }
