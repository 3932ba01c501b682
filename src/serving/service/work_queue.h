#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "tensor/arena.h"

namespace dragoman::serving {

/// A bounded queue with one thread that runs jobs one after another. It is for work that is too slow for the thread of
/// the connections and not part of the shared batch. An exception ends its job and nothing else.
/// Threads: safe for use by any number of threads.
class WorkQueue {
 public:
  /// @param most_waiting  largest number of waiting jobs; one more is refused
  explicit WorkQueue(size_t most_waiting);
  /// Runs the waiting jobs, then ends.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Adds a job. If the queue is full, cancelled jobs are dropped first.
  /// Throws: HttpError(503): "too many such requests are waiting; try again soon", with Retry-After.
  void submit(std::stop_token cancel, std::function<void()> work);

 private:
  struct Job {
    std::stop_token cancel;
    std::function<void()> work;
  };

  void run();

  std::shared_ptr<tensor::Allocator> memory_ = tensor::Arena::current()->another();  // of the device of the models
  size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Job> jobs_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace dragoman::serving
