#include "serving/service/work_queue.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "serving/http/http_message.h"

namespace dragoman::serving {

WorkQueue::WorkQueue(size_t most_waiting) : most_waiting_(most_waiting), thread_([this] { run(); }) {}

WorkQueue::~WorkQueue() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_one();
  thread_.join();
}

void WorkQueue::submit(std::stop_token cancel, std::function<void()> work) {
  std::deque<Job> dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= most_waiting_) {
      const auto gone = std::stable_partition(jobs_.begin(), jobs_.end(),
                                              [](const Job& job) { return !job.cancel.stop_requested(); });
      std::move(gone, jobs_.end(), std::back_inserter(dropped));
      jobs_.erase(gone, jobs_.end());
    }
    if (jobs_.size() >= most_waiting_) {
      throw HttpError(status::kUnavailable, "too many such requests are waiting; try again soon",
                      {{"Retry-After", "1"}});
    }
    jobs_.push_back({std::move(cancel), std::move(work)});
  }
  arrived_.notify_one();
}

void WorkQueue::run() {
  const tensor::ArenaScope arena(memory_);  // keeps the memory for the next job
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) {
      return;
    }
    std::optional<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    try {
      job->work();
    } catch (const std::exception&) {  // the exchange answers when it is destroyed
    }
    job.reset();  // destroys it without the lock
    lock.lock();
  }
}

}  // namespace dragoman::serving
