#include "base/worker_pool.h"

#include <utility>

#include "base/error.h"

namespace dragoman::base {

WorkerPool::WorkerPool(int size) : size_(size) {
  check_usage(size >= 1 && size <= 1024, "workers: {} asked for, must be 1 to 1024", size);
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

void WorkerPool::run(const std::function<void(int)>& task) {
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    running_ = size_ - 1;
    ++round_;
  }
  start_.notify_all();
  run_task(0);
  {
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
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) {
        return;
      }
      seen = round_;
    }
    run_task(rank);
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) {
      done_.notify_one();
    }
  }
}

}  // namespace dragoman::base
