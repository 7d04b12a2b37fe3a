// Tasks on several threads; no thread outlives the call. Where a program has one thread only, as in WebAssembly, that
// thread does all of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#ifdef __STDCPP_THREADS__
#include <condition_variable>
#include <thread>
#endif

namespace pfgen {

inline constexpr std::size_t kTasksPerPause = 16;
inline constexpr std::chrono::milliseconds kWait{50};  // for other threads, between two pauses

#ifdef __STDCPP_THREADS__

using Mutex = std::mutex;

// Threads that are waited for at the end of their scope: std::jthread, which libc++ has since version 20 only.
class JoinedThreads {
 public:
  JoinedThreads() = default;
  JoinedThreads(const JoinedThreads&) = delete;
  JoinedThreads& operator=(const JoinedThreads&) = delete;
  ~JoinedThreads() { join(); }

  template <class... Args>
  void start(Args&&... args) {
    threads_.emplace_back(std::forward<Args>(args)...);
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

// Tasks in ranges of about the same size, one for each worker. Neighbouring tasks need the same memory, so a worker
// keeps to its range, and helps with the others' when that is done.
class TaskRanges {
 public:
  TaskRanges(std::size_t n_tasks, std::size_t n_ranges) : n_tasks_(n_tasks), next_(n_ranges) {
    for (std::size_t range = 0; range < n_ranges; ++range) next_[range] = begin(range);
  }

  // Calls `work(task)` with tasks that no other worker has taken, until no task is left.
  template <class Work>
  void take(std::size_t worker, const Work& work) {
    for (std::size_t i = 0; i < next_.size(); ++i) {
      const std::size_t range = (worker + i) % next_.size();
      const std::size_t end = begin(range + 1);
      for (std::size_t task = next_[range]++; task < end; task = next_[range]++) work(task);
    }
  }

  // No task is taken any more.
  void stop() {
    for (auto& next : next_) next = n_tasks_;
  }

 private:
  std::size_t begin(std::size_t range) const { return range * n_tasks_ / next_.size(); }

  std::size_t n_tasks_;
  std::vector<std::atomic<std::size_t>> next_;  // task of each range
};

#else

struct Mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};

#endif

// Runs `work(task)` for every task below `n_tasks`; each of `n_threads` threads has a worker from `make_worker`.
// The calling thread calls `on_pause`, if there is one, after every few of its tasks, and while it waits for others.
// The first exception of any is thrown here, after all have ended.
template <class MakeWorker>
void run_parallel(std::size_t n_tasks, std::size_t n_threads, const std::function<void()>& on_pause,
                  const MakeWorker& make_worker) {
#ifdef __STDCPP_THREADS__
  const std::size_t n_workers = std::max<std::size_t>(1, std::min(n_threads, n_tasks));
#else
  constexpr std::size_t n_workers = 1;
#endif
  if (n_workers == 1) {
    auto worker = make_worker();
    for (std::size_t task = 0; task < n_tasks; ++task) {
      worker(task);
      if (on_pause && (task + 1) % kTasksPerPause == 0) on_pause();
    }
    return;
  }
#ifdef __STDCPP_THREADS__
  TaskRanges tasks(n_tasks, n_workers);
  std::mutex mutex;
  std::exception_ptr error;
  std::size_t n_running = 0;  // threads other than the calling one
  std::condition_variable ended;
  const auto guard = [&](const auto& work) {
    try {
      work();
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!error) error = std::current_exception();
      tasks.stop();
    }
  };
  const auto run = [&](std::size_t number) {
    guard([&] {
      auto worker = make_worker();
      std::size_t n_done = 0;
      tasks.take(number, [&](std::size_t task) {
        worker(task);
        if (number == 0 && on_pause && ++n_done % kTasksPerPause == 0) on_pause();
      });
    });
    if (number == 0) return;
    const std::scoped_lock lock(mutex);
    --n_running;
    ended.notify_one();
  };
  JoinedThreads threads;
  std::unique_lock lock(mutex);
  for (std::size_t number = 1; number < n_workers; ++number) {
    try {
      threads.start(run, number);
    } catch (const std::system_error&) {
      break;  // The system gives no more threads: the running threads do all the work.
    }
    ++n_running;
  }
  lock.unlock();
  run(0);
  for (lock.lock(); !ended.wait_for(lock, kWait, [&] { return n_running == 0; }); lock.lock()) {
    lock.unlock();
    if (on_pause) guard(on_pause);
  }
  lock.unlock();
  threads.join();
  if (error) std::rethrow_exception(error);
#endif
}

}  // namespace pfgen
