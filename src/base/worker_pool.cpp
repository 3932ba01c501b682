#include "base/worker_pool.h"

#include <utility>

#include "base/error.h"

namespace dragoman::base {

WorkerPool::WorkerPool(int size, std::chrono::microseconds awake) : size_(size), awake_(awake) {
  check_range("workers", size, 1, 1024);
  for (int rank = 1; rank < size; ++rank) {
    threads_.emplace_back([this, rank] { work(rank); });
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

template <class Condition>
bool WorkerPool::comes_true_soon(Condition condition) const {
  const auto until = std::chrono::steady_clock::now() + awake_;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

void WorkerPool::run(const std::function<void(int)>& task) {
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    running_ = size_ - 1;
    ++round_;
  }
  start_.notify_all();
  run_task(0);
  if (!comes_true_soon([this] { return running_ == 0; })) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
  }
  if (first_error_ != nullptr) {
    std::rethrow_exception(std::exchange(first_error_, nullptr));
  }
}

void WorkerPool::run_task(int rank) {
  try {
    (*task_)(rank);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (first_error_ == nullptr) {
      first_error_ = std::current_exception();
    }
  }
}

void WorkerPool::work(int rank) {
  uint64_t seen = 0;
  const auto called = [&] { return stopping_ || round_ != seen; };
  for (;;) {
    if (!comes_true_soon(called)) {
      std::unique_lock lock(mutex_);
      start_.wait(lock, called);
    }
    if (stopping_) {
      return;
    }
    seen = round_;
    run_task(rank);
    if (--running_ == 0) {
      const std::lock_guard lock(mutex_);  // the caller may be on its way to sleep
      done_.notify_one();
    }
  }
}

}  // namespace dragoman::base
