#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "serving/service/served_models.h"
#include "serving/service/turn_queue.h"

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
    decoding::LanguageTokens languages = {};
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

/// Translates the lines of requests. Jobs take turns, one line each (TurnQueue). A line joins the running batch at its
/// next step (Translator::submit).
/// Threads: safe for use by any number of threads.
class TranslationService {
 public:
  using Clock = TurnQueue::Clock;

  /// Its destructor waits until every job is done. Requires: every job is cancelled or has a deadline.
  /// @param workers  threads of each model
  /// @param batch_tokens  largest number of source tokens in work in one worker
  /// @param first_rate  assumed estimated tokens per second, see Admission
  TranslationService(int workers, int64_t batch_tokens, std::chrono::duration<double> longest_wait,
                     double first_rate = 0.0);

  /// Adds a job. Throws: HttpError(503): "The server is busy, try again", with Retry-After, if the job is not admitted.
  void submit(TranslationJob job);
  [[nodiscard]] ServiceCounts counts() const { return queue_.counts(); }
  /// Called with the seconds from `submit` to the begin of a job's first line. Requires: set before the first `submit`.
  std::function<void(double seconds)> on_begun = [](double) {};

 private:
  TurnQueue queue_;
};

}  // namespace dragoman::serving
