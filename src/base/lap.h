#pragma once

#include <chrono>
#include <ctime>
#include <utility>

namespace dragoman::base {

/// Returns the seconds of a clock that never goes back.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the processor seconds of all threads of this process so far; with CLOCK_THREAD_CPUTIME_ID, of the calling
/// thread.
inline double processor_seconds(clockid_t clock = CLOCK_PROCESS_CPUTIME_ID) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// A stopwatch for consecutive intervals. Each call returns the seconds since the previous call, the first call those
/// since construction.
class Lap {
 public:
  double operator()() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace dragoman::base
