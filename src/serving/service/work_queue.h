#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace dragoman::serving {

/// A thread that does jobs one after the other, and a bounded queue before it: for what is too slow for the thread of
/// the connections and not part of the shared batch. A job that throws has ended.
class WorkQueue {
 public:
  /// @param most_waiting  jobs; one more is refused
  explicit WorkQueue(size_t most_waiting);
  /// Does what is waiting, then ends.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// @param cancel  a job that nobody waits for any more keeps no place in the queue: when room is needed it is dropped
  /// Throws HttpError(503) with Retry-After when the queue is full.
  void submit(std::stop_token cancel, std::function<void()> work);

 private:
  struct Job {
    std::stop_token cancel;
    std::function<void()> work;
  };

  void run();

  size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Job> jobs_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace dragoman::serving
