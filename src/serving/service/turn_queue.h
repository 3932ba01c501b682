#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "decoding/search/hypothesis.h"
#include "serving/service/admission.h"

namespace dragoman::serving {

class PartReport;

/// One request in the queue. It has parts, which are begun one by one and computed beside parts of other requests.
struct QueuedJob {
  using Clock = std::chrono::steady_clock;

  std::vector<int64_t> costs;  ///< the estimated cost of each part in tokens, see Admission
  std::stop_token cancel = {};
  Clock::time_point deadline = {};
  const char* late = "the translation took too long";  ///< the text of HttpError(504); it outlives the job
  /// Called by `submit` when the job is admitted, before any part is begun. May be empty.
  std::function<void()> on_admitted = {};
  /// Begins a part, whose results the job keeps. If `begin` throws, the part has ended with the exception. Otherwise
  /// the report must be ended once. Threads: it runs in the thread of the queue.
  std::function<void(size_t part, const PartReport& report)> begin;
  /// Called once, with null or with the error. The error is HttpError(504) after the deadline and HttpError(503) after
  /// a cancel. If `done` throws, it is called once more, with its own exception. Threads: it runs in the thread of the
  /// queue.
  std::function<void(const std::exception_ptr& error)> done;
};

/// How a part ended.
struct PartEnd {
  decoding::FinishReason reason = decoding::FinishReason::kEndOfSentence;
  size_t source_tokens = 0;  ///< read
  size_t target_tokens = 0;  ///< written
  std::exception_ptr error = {};
};

/// The counters of a queue.
struct ServiceCounts {
  int64_t waiting_cost = 0;  ///< estimated tokens admitted and not done yet, with those in work
  int64_t jobs = 0;          ///< jobs admitted and not done
  uint64_t source_tokens = 0;
  uint64_t target_tokens = 0;
  uint64_t rejected = 0;
  uint64_t cancelled = 0;
  uint64_t timed_out = 0;
  uint64_t failed = 0;  ///< jobs ended by an error of the model or the search
  double rate = 0.0;    ///< estimated tokens per second while busy
};

/// The queue between the requests and the workers of the models. Jobs take turns, one part each, so that a request with
/// a hundred texts does not delay one with a single sentence. Admission bounds the parts in work; the other parts wait
/// here, where a cancel drops them at once. Admission also bounds the parts that wait.
/// Threads: safe for use by any number of threads.
class TurnQueue {
 public:
  using Clock = QueuedJob::Clock;
  using OnBegun = std::function<void(double seconds)>;

  /// @param on_begun  called with the seconds from `submit` to the begin of a job's first part
  TurnQueue(const AdmissionLimits& limits, double first_rate, OnBegun on_begun);
  /// Waits until every job is done. Requires: every job is cancelled or has a deadline.
  ~TurnQueue();
  TurnQueue(const TurnQueue&) = delete;
  TurnQueue& operator=(const TurnQueue&) = delete;

  /// Adds a job. Throws: HttpError(503): "The server is busy, try again", with Retry-After, if the job is not admitted.
  void submit(QueuedJob job);
  [[nodiscard]] ServiceCounts counts() const;

 private:
  friend class PartReport;
  struct Active;
  struct Finished {
    std::shared_ptr<Active> job;
    size_t part = 0;
    int64_t progress = 0;  // cost that was reported as done before the end
    PartEnd end = {};
  };
  // Mail is in lists: splicing a node allocates no memory, so no message is lost if memory is exhausted.
  using Jobs = std::list<std::shared_ptr<Active>>;

  void run();
  bool receive_mail(std::list<Finished>& finished);
  void record(Finished& finished);
  void feed();
  void begin_part(const std::shared_ptr<Active>& job);
  void send_finished(std::list<Finished>& one);
  void add_progress(Finished& part, int64_t cost);
  void sweep(Clock::time_point now);
  void drop_if_late(Active& job, Clock::time_point now);
  void give_up_parts(Active& job, const std::exception_ptr& error, std::atomic<uint64_t>& counter);
  void end_if_done(Active& job);

  Admission admission_;
  OnBegun on_begun_;
  mutable std::mutex mutex_;
  std::condition_variable mail_;
  Jobs arrived_;
  std::list<Finished> finished_;
  bool ending_ = false;
  Jobs turns_;           // jobs with parts that are not begun; used by the thread only
  int64_t in_work_ = 0;  // cost of the parts in work; used by the thread only
  std::atomic<int64_t> jobs_{0};
  std::atomic<uint64_t> source_tokens_{0};
  std::atomic<uint64_t> target_tokens_{0};
  std::atomic<uint64_t> cancelled_{0};
  std::atomic<uint64_t> timed_out_{0};
  std::atomic<uint64_t> failed_{0};
  Clock::time_point swept_ = Clock::now();  // used by the thread only
  std::thread thread_;
};

/// Tells the queue what becomes of a part that was begun. Copies report on the same part.
/// Threads: any thread, one at a time.
class PartReport {
 public:
  /// Reports that a part of the cost is done, for parts that take long. Each part reports its whole cost at most.
  void progress(int64_t cost) const { queue_->add_progress(place_->front(), cost); }
  /// Reports the end of the part, once. After this call the job may be gone.
  void end(PartEnd end) const {
    place_->front().end = std::move(end);
    queue_->send_finished(*place_);
  }

 private:
  friend class TurnQueue;
  PartReport(TurnQueue& queue, std::shared_ptr<std::list<TurnQueue::Finished>> place)
      : queue_(&queue), place_(std::move(place)) {}

  TurnQueue* queue_;
  std::shared_ptr<std::list<TurnQueue::Finished>> place_;  // one, empty after the end
};

}  // namespace dragoman::serving
