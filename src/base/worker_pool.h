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

/// A fixed team of threads. All threads run the same task, each with its own rank, and `run` waits for all of them.
/// The threads live as long as the pool, so thread-local state, such as the arena, is kept between runs.
class WorkerPool {
 public:
  /// @param size   number of workers, 1 to 1024. With 1 the calling thread does the work.
  /// @param awake  how long a waiting thread polls before it sleeps. Sleeping and waking take longer than a matrix
  /// product
  ///               of a few rows.
  explicit WorkerPool(int size, std::chrono::microseconds awake = {});
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int size() const { return size_; }
  /// Runs task(rank) for the ranks 0 to size - 1 in parallel and returns after all of them. Rethrows the first
  /// exception of a task. Requires: the call does not come from inside a task.
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
  std::atomic<uint64_t> round_ = 0;     // written under the mutex
  std::atomic<int> running_ = 0;        // written without the mutex
  std::atomic<bool> stopping_ = false;  // written under the mutex
  std::exception_ptr first_error_;
  std::vector<std::thread> threads_;
};

}  // namespace dragoman::base
