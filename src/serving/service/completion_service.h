#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "serving/service/served_models.h"
#include "serving/service/turn_queue.h"

namespace dragoman::serving {

/// The prompts of one request, with the model and the options that continue them.
struct CompletionJob {
  /// One continuation of one prompt.
  struct Part {
    std::vector<int32_t> prompt;  ///< ids; not empty, and shorter than the context of the model
    uint64_t sample = 0;          ///< see GenerationRequest
  };
  std::shared_ptr<const ServedModels> models;  ///< kept until the job is done
  const ServedLanguageModel* model = nullptr;  ///< one of `models`
  decoding::GenerationOptions options;
  int likeliest = 0;           ///< see GenerationRequest
  bool scores_prompt = false;  ///< see GenerationRequest
  std::vector<Part> parts;
  std::stop_token cancel = {};
  TurnQueue::Clock::time_point deadline = {};
  /// Called with each piece of a text as soon as it is sure. False cancels the part. May be empty.
  /// Threads: it runs in a thread of the model.
  std::function<bool(size_t part, const decoding::GeneratedPart&)> on_part = {};
  /// Called with a text that is finished, after its last `on_part`. Not called for a text that is cancelled, late or
  /// failed. May be empty. Threads: it runs in a thread of the model.
  std::function<void(size_t part, const decoding::Continuation&)> on_finished = {};
  std::function<void()> on_admitted = {};  ///< see QueuedJob
  /// Called once, with a text for each part or with the error; see QueuedJob.
  std::function<void(std::vector<decoding::Continuation> texts, const std::exception_ptr& error)> done;
};

/// Continues the prompts of requests. Jobs take turns, one continuation each (TurnQueue). A continuation joins the
/// running batch at its next step (Generator::submit). Its estimated cost is its prompt with all tokens that it may
/// get. Threads: safe for use by any number of threads.
class CompletionService {
 public:
  /// What the service tells the metrics. Each function gets seconds since `submit`.
  struct Watch {
    std::function<void(double seconds)> begun = [](double) {};        ///< the first part of a job
    std::function<void(double seconds)> first_token = [](double) {};  ///< of each part
  };

  /// @param first_rate  assumed tokens per second, see Admission
  CompletionService(const AdmissionLimits& limits, double first_rate, Watch watch);

  /// Adds a job. Throws: HttpError(503): "The server is busy, try again", with Retry-After, if the job is not admitted.
  void submit(CompletionJob job);
  [[nodiscard]] ServiceCounts counts() const { return queue_.counts(); }

 private:
  Watch watch_;
  TurnQueue queue_;
};

}  // namespace dragoman::serving
