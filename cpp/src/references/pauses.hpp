// Interruption of long comparisons: a pair of texts may take minutes.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>

namespace pfgen {

// Ends a thread after the calling thread was interrupted.
struct Stopped : std::exception {};

// Its address tells threads apart, also where the library has none.
inline thread_local char this_thread = 0;

// Ends all threads if the calling thread is interrupted.
class Pauses {
 public:
  explicit Pauses(const std::function<void()>& on_pause) : on_pause_(on_pause) {}

  // Throws the exception of `on_pause` in the calling thread, and then Stopped in all others.
  void check() {
    if (is_stopped_) throw Stopped{};
    if (!on_pause_ || &this_thread != caller_) return;
    try {
      on_pause_();
    } catch (...) {
      is_stopped_ = true;
      throw;
    }
  }

 private:
  const std::function<void()>& on_pause_;
  const char* caller_ = &this_thread;
  std::atomic<bool> is_stopped_ = false;
};

// The steps of one thread since its last pause; some 20 ms lie between two pauses.
class Steps {
 public:
  explicit Steps(Pauses& pauses) : pauses_(pauses) {}
  Steps(const Steps&) = delete;  // metrics refer to it
  Steps& operator=(const Steps&) = delete;

  void add(std::size_t n) {
    n_ += n;
    if (n_ < kStepsPerPause) return;
    n_ = 0;
    pauses_.check();
  }

 private:
  static constexpr std::size_t kStepsPerPause = std::size_t{1} << 24;

  Pauses& pauses_;
  std::size_t n_ = 0;
};

}  // namespace pfgen
