#pragma once

#include <chrono>
#include <utility>

namespace dragoman::base {

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
