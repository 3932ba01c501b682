#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace dragoman::serving {

/// Runs a slow function in a separate thread on request, one run at a time. Requests during a run cause one more run
/// after it. An exception of the function is reported by `say` and has no other effect.
/// Threads: any thread may call `ask`.
class Reloader {
 public:
  /// @param say  is called with one line if `reload` throws
  Reloader(std::function<void()> reload, std::function<void(const std::string&)> say);
  /// Waits for the run under way.
  ~Reloader();
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  void ask();

 private:
  void run();

  std::function<void()> reload_;
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  bool is_asked_ = false;
  bool is_running_ = false;
  std::thread thread_;
};

}  // namespace dragoman::serving
