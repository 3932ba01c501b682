#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace dragoman::test_support {

/// Polls until `condition` holds. A test waits so instead of sleeping for a time that a busy machine exceeds.
///
/// Returns: true once `condition` holds; false when it does not within `at_most`.
inline bool wait_until(const std::function<bool()>& condition,
                       std::chrono::steady_clock::duration at_most = std::chrono::minutes(1),
                       std::chrono::steady_clock::duration pause = std::chrono::microseconds(200)) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace dragoman::test_support
