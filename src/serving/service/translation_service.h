#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "serving/service/admission.h"
#include "serving/service/served_models.h"

namespace dragoman::serving {

/// The lines of one request and the models and options for their translation.
struct TranslationJob {
  struct Search {
    const ServedModel* model = nullptr;  ///< one of `models`
    decoding::SearchOptions options = {};
  };
  /// A line is translated by itself, in a batch with lines of other jobs.
  struct Line {
    std::string text;
    size_t search = 0;  ///< its index in `searches`
  };
  std::shared_ptr<const ServedModels> models;  ///< kept until the job is done
  std::vector<Search> searches;
  std::vector<Line> lines;
  /// The target phrases of the terms that are found in a line are demanded of its translation. Of more than
  /// kMostPhrases phrases the first ones are. Null = none. Requires: no search samples.
  std::shared_ptr<const decoding::TermTable> terms = {};
  std::stop_token cancel = {};
  std::chrono::steady_clock::time_point deadline = {};
  /// See TranslationRequest::on_token. `line` counts from 0. May be empty.
  std::function<bool(size_t line, const decoding::StreamedToken&)> on_token = {};
  /// Called by `submit` when the job is admitted, before any line is begun. May be empty.
  std::function<void()> on_admitted = {};
  /// Called once, with a translation for each line or with the error. The error is HttpError(504) after the deadline
  /// and HttpError(503) after a cancel. If `done` throws, it is called once more, with its own exception.
  /// Threads: it runs in the thread of the service.
  std::function<void(std::vector<decoding::Translation> translations, std::exception_ptr error)> done;
};

/// The counters of the service.
struct ServiceCounts {
  int64_t waiting_cost = 0;  ///< estimated tokens admitted and not translated yet, with those in work
  int64_t jobs = 0;          ///< jobs admitted and not done
  uint64_t source_tokens = 0;
  uint64_t target_tokens = 0;
  uint64_t rejected = 0;
  uint64_t cancelled = 0;
  uint64_t timed_out = 0;
  uint64_t failed = 0;  ///< jobs ended by an error of the model or the search
  double rate = 0.0;    ///< estimated tokens per second while busy
};

/// The queue between the requests and the workers of the models. Jobs take turns, one line each, so that a request with
/// a hundred texts does not delay one with a single sentence. A line joins the running batch at its next step
/// (Translator::submit). Admission bounds the lines in work; the other lines wait here, where a cancel drops them at
/// once. Admission also bounds the lines that wait.
/// Threads: safe for use by any number of threads.
class TranslationService {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param workers  threads of each model
  /// @param batch_tokens  largest number of source tokens in work in one worker
  /// @param first_rate  assumed estimated tokens per second, see Admission
  TranslationService(int workers, int64_t batch_tokens, std::chrono::duration<double> longest_wait,
                     double first_rate = 0.0);
  /// Waits until every job is done. Requires: every job is cancelled or has a deadline.
  ~TranslationService();
  TranslationService(const TranslationService&) = delete;
  TranslationService& operator=(const TranslationService&) = delete;

  /// Adds a job. Throws: HttpError(503): "The server is busy, try again", with Retry-After, if the job is not admitted.
  void submit(TranslationJob job);
  [[nodiscard]] ServiceCounts counts() const;
  /// Called with the seconds from `submit` to the begin of a job's first line. Requires: set before the first `submit`.
  std::function<void(double seconds)> on_begun = [](double) {};

 private:
  struct Active;
  struct Finished {
    std::shared_ptr<Active> job;
    size_t line = 0;
    decoding::Translation translation;
    std::exception_ptr error;
  };
  // Mail is in lists: splicing a node allocates no memory, so no message is lost if memory is exhausted.
  using Jobs = std::list<std::shared_ptr<Active>>;

  void run();
  bool receive_mail(std::list<Finished>& finished);
  void record(Finished& finished);
  void feed();
  void begin_line(const std::shared_ptr<Active>& job);
  void send_finished(std::list<Finished>& one);
  void sweep(Clock::time_point now);
  void drop_if_late(Active& job, Clock::time_point now);
  void give_up_lines(Active& job, const std::exception_ptr& error, std::atomic<uint64_t>& counter);
  void end_if_done(Active& job);

  Admission admission_;
  mutable std::mutex mutex_;
  std::condition_variable mail_;
  Jobs arrived_;
  std::list<Finished> finished_;
  bool ending_ = false;
  Jobs turns_;           // jobs with lines that are not begun; used by the thread only
  int64_t in_work_ = 0;  // cost of the lines in work; used by the thread only
  std::atomic<int64_t> jobs_{0};
  std::atomic<uint64_t> source_tokens_{0};
  std::atomic<uint64_t> target_tokens_{0};
  std::atomic<uint64_t> cancelled_{0};
  std::atomic<uint64_t> timed_out_{0};
  std::atomic<uint64_t> failed_{0};
  Clock::time_point swept_ = Clock::now();  // used by the thread only
  std::thread thread_;
};

}  // namespace dragoman::serving
