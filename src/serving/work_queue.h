#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace dragoman::serving {

/// A thread that does jobs one after the other, and a bounded queue before it: for what is too slow for the thread of
/// the connections and not part of the shared batch. Jobs must not throw.
class WorkQueue {
 public:
  /// @param most_waiting  jobs; one more is refused
  explicit WorkQueue(size_t most_waiting);
  /// Does what is waiting, then ends.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Throws HttpError(503) with Retry-After when the queue is full.
  void submit(std::function<void()> job);

 private:
  void run();

  size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace dragoman::serving
