// Releasing and taking the GIL. Before Python 3.14, a daemon thread that takes it while the interpreter ends is
// ended by pthread_exit, which unwinds C++ frames: they may be noexcept, or own Python objects. Such a thread waits
// here for the end of the process instead.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>

#if !defined(_WIN32)
#include <pthread.h>
#include <unistd.h>
#endif

namespace pfgen {

#if defined(_WIN32)
template <class Call>
void run_python(const Call& call) {
  call();
}
#else
[[noreturn]] inline void wait_for_exit(void*) {
  for (;;) pause();
}

// For functions of Python that take the GIL or run Python code. Not inlined, so that no destructor within it has to
// run. The functions throw nothing, because an exception would be taken for the end of the thread.
template <class Call>
[[gnu::noinline]] void run_python(const Call& call) {
  pthread_cleanup_push(wait_for_exit, nullptr);
  call();
  pthread_cleanup_pop(0);
}
#endif

template <class... Args>
pybind11::object call_python(const pybind11::object& function, const Args&... args) {
  PyObject* result = nullptr;
  run_python([&] { result = PyObject_CallFunctionObjArgs(function.ptr(), args.ptr()..., nullptr); });
  if (result == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(result);
}

// pybind11 imports NumPy when the first array is made, which takes long enough for a program to end meanwhile.
inline void import_numpy() {
  static std::atomic<bool> is_imported{false};
  if (is_imported) return;
  PyObject* module = nullptr;
  run_python([&] { module = PyImport_ImportModule("numpy"); });
  if (module == nullptr) throw pybind11::error_already_set();
  Py_DECREF(module);
  is_imported = true;
}

// The calling thread has the GIL, and has it again at the end of the scope.
class GilReleased {
 public:
  GilReleased() : thread_(PyEval_SaveThread()) {}
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;
  ~GilReleased() {
    run_python([this] { PyEval_RestoreThread(thread_); });
  }

 private:
  PyThreadState* thread_;
};

// Any thread has the GIL until the end of the scope.
class GilHeld {
 public:
  GilHeld() {
    run_python([this] { state_ = PyGILState_Ensure(); });
  }
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;
  ~GilHeld() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace pfgen
