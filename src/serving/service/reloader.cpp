#include "serving/service/reloader.h"

#include <utility>

namespace dragoman::serving {

Reloader::Reloader(std::function<void()> reload, std::function<void(const std::string&)> say)
    : reload_(std::move(reload)), say_(std::move(say)) {}

Reloader::~Reloader() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Reloader::ask() {
  const std::lock_guard lock(mutex_);
  is_asked_ = true;
  if (!is_running_) {
    if (thread_.joinable()) {
      thread_.join();  // its run has ended
    }
    is_running_ = true;
    thread_ = std::thread([this] { run(); });
  }
}

void Reloader::run() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      is_running_ = std::exchange(is_asked_, false);
      if (!is_running_) {
        return;
      }
    }
    try {
      reload_();
    } catch (const std::exception& error) {
      say_(std::string("not reloaded, the current models and keys stay: ") + error.what());
    }
  }
}

}  // namespace dragoman::serving
