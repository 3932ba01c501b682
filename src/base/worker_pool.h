#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dragoman::base {

/// A fixed team of threads that all run the same function, each with its own rank, and wait for each other at the
/// end. The threads live as long as the pool, so thread-local state (the arena) is kept between runs.
class WorkerPool {
 public:
  /// @param size  number of workers, >= 1. With 1 the caller's thread does the work.
  /// @param awake  how long a thread that waits looks on before it sleeps: going to sleep and waking take longer than a
  /// product of a few rows
  explicit WorkerPool(int size, std::chrono::microseconds awake = {});
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int size() const { return size_; }
  /// Runs task(rank) for rank 0 .. size - 1 at once and returns when all are done. Rethrows the exception that was
  /// thrown first. Must not be called from inside a task.
  void run(const std::function<void(int)>& task);

 private:
  void work(int rank);
  void run_task(int rank);
  template <class Condition>
  bool comes_true_soon(Condition condition) const;

  int size_;
  std::chrono::microseconds awake_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(int)>* task_ = nullptr;
  std::atomic<uint64_t> round_ = 0;     // changes under the mutex
  std::atomic<int> running_ = 0;        // falls without it
  std::atomic<bool> stopping_ = false;  // changes under the mutex
  std::exception_ptr first_error_;
  std::vector<std::thread> threads_;
};

}  // namespace dragoman::base
