// Tasks on several threads, none of which outlives the call. Private to the core.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace pfgen {

inline constexpr std::size_t kTasksPerPause = 16;

// Runs `work(task)` for every task below `n_tasks`; each of `n_threads` threads has a worker from `make_worker`.
// The calling thread calls `on_pause`, if there is one, after every few of its tasks. The first exception of any is
// thrown here, after all have ended.
template <class MakeWorker>
void run_parallel(std::size_t n_tasks, std::size_t n_threads, const std::function<void()>& on_pause,
                  const MakeWorker& make_worker) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto run = [&](bool pauses) {
    try {
      auto worker = make_worker();
      std::size_t n_done = 0;
      for (std::size_t task = next++; task < n_tasks; task = next++) {
        worker(task);
        if (pauses && ++n_done % kTasksPerPause == 0) on_pause();
      }
    } catch (...) {
      const std::scoped_lock lock(error_mutex);
      if (!error) error = std::current_exception();
      next = n_tasks;
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(n_threads, n_tasks); ++i) {
    try {
      threads.emplace_back(run, false);
    } catch (const std::system_error&) {
      break;  // The system gives no more threads: those that run do all the work.
    }
  }
  run(static_cast<bool>(on_pause));
  threads.clear();
  if (error) std::rethrow_exception(error);
}

}  // namespace pfgen
