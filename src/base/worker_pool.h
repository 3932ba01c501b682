#pragma once

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
  explicit WorkerPool(int size);
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

  int size_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(int)>* task_ = nullptr;
  uint64_t round_ = 0;
  int running_ = 0;
  bool stopping_ = false;
  std::exception_ptr first_error_;
  std::vector<std::thread> threads_;
};

}  // namespace dragoman::base
