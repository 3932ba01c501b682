#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <future>
#include <stop_token>

namespace dragoman::python {

/// Waits for work of another thread without the GIL, and looks for Ctrl-C meanwhile. After Ctrl-C it requests the stop,
/// waits for the end of the work, and throws nb::python_error with KeyboardInterrupt.
/// @param is_done  waits for at most the given milliseconds; returns whether the work has ended
void wait_interruptibly(const std::function<bool(int)>& is_done, std::stop_source& stop);

/// Runs `work(stop_token)` in a thread of its own, as wait_interruptibly says. Requires: the GIL is held; `work` needs
/// no GIL. Throws: what `work` throws.
template <typename Work>
auto run_interruptibly(Work work) {
  std::stop_source stop;
  auto result = std::async(std::launch::async, [&] { return work(stop.get_token()); });
  wait_interruptibly(
      [&](int milliseconds) {
        return result.wait_for(std::chrono::milliseconds(milliseconds)) == std::future_status::ready;
      },
      stop);
  return result.get();
}

}  // namespace dragoman::python
