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

/// What one request wants translated.
struct TranslationJob {
  std::shared_ptr<const ServedModels> models;  ///< kept until the job is done
  const ServedModel* model = nullptr;          ///< one of them
  std::vector<std::string> lines;              ///< translated apart, together with those of other jobs
  decoding::SearchOptions options;
  std::stop_token cancel = {};
  std::chrono::steady_clock::time_point deadline = {};
  /// See TranslationRequest::on_token; `line` counts from 0. May be empty.
  std::function<bool(size_t line, const decoding::StreamedToken&)> on_token = {};
  /// Called by `submit` once the job is admitted, before anything is begun. May be empty.
  std::function<void()> on_admitted = {};
  /// Called once, in the service's thread: with a translation for each line, or with the error. Past the deadline that
  /// is HttpError(504), after a cancel HttpError(503). When it throws it is called once more, with what it threw.
  std::function<void(std::vector<decoding::Translation> translations, std::exception_ptr error)> done;
};

/// How much is under way and was done.
struct ServiceCounts {
  int64_t waiting_cost = 0;  ///< estimated tokens admitted and not translated yet, those in work too
  int64_t jobs = 0;          ///< admitted and not done
  uint64_t source_tokens = 0;
  uint64_t target_tokens = 0;
  uint64_t rejected = 0;
  uint64_t cancelled = 0;
  uint64_t timed_out = 0;
  uint64_t failed = 0;  ///< by an error of the model or the search
  double rate = 0.0;    ///< estimated tokens a second, as far as it has been busy
};

/// Shares the models' workers out over requests. Jobs take turns, a line each, so that a request of a hundred texts
/// does not keep one of a single sentence waiting; a line joins those in work at the next step (Translator::submit).
/// Only as many lines are in work as the workers can hold and do soon (Admission::in_work); the rest waits here, where
/// it can be dropped at once. Admission bounds what waits. Safe for use by any number of threads.
class TranslationService {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param workers  threads of each model
  /// @param batch_tokens  source tokens in work at a time in one worker
  /// @param first_rate  estimated tokens a second to reckon with at first, see Admission
  TranslationService(int workers, int64_t batch_tokens, std::chrono::duration<double> longest_wait,
                     double first_rate = 0.0);
  /// Waits until every job is done. Jobs must have ends: cancel them or give them deadlines.
  ~TranslationService();
  TranslationService(const TranslationService&) = delete;
  TranslationService& operator=(const TranslationService&) = delete;

  /// Throws HttpError(503) with Retry-After when there is too much to do already.
  void submit(TranslationJob job);
  ServiceCounts counts() const;
  /// Is told how long a job waited for its first line to be begun, in seconds. Set before the first submit.
  std::function<void(double seconds)> on_begun = [](double) {};

 private:
  struct Active;
  struct Finished {
    std::shared_ptr<Active> job;
    size_t line = 0;
    decoding::Translation translation;
    std::exception_ptr error;
  };
  // Mail is in lists, whose parts change hands without asking for memory: none is lost when there is none.
  using Jobs = std::list<std::shared_ptr<Active>>;

  void run();
  bool take_mail(std::list<Finished>& finished);
  void take(Finished& finished);
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
  Jobs turns_;           // of the thread: jobs with lines that are not begun
  int64_t in_work_ = 0;  // of the thread: cost of the lines begun
  std::atomic<int64_t> jobs_{0};
  std::atomic<uint64_t> source_tokens_{0};
  std::atomic<uint64_t> target_tokens_{0};
  std::atomic<uint64_t> cancelled_{0};
  std::atomic<uint64_t> timed_out_{0};
  std::atomic<uint64_t> failed_{0};
  Clock::time_point swept_ = Clock::now();  // of the thread
  std::thread thread_;
};

}  // namespace dragoman::serving
