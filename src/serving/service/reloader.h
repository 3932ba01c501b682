#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace dragoman::serving {

/// Does something slow in a thread of its own when asked to, one time after the other; asked again meanwhile, it does
/// it once more afterwards. What it throws is said and changes nothing.
class Reloader {
 public:
  /// @param reload  @param say  gets one line when reload throws
  Reloader(std::function<void()> reload, std::function<void(const std::string&)> say);
  /// Waits for a reload under way.
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
