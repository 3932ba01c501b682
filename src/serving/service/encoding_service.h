#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "serving/service/served_models.h"
#include "serving/service/turn_queue.h"

namespace dragoman::serving {

/// The texts of one request, with the encoder that reads them.
struct EncodingJob {
  std::shared_ptr<const ServedModels> models;  ///< kept until the job is done
  const ServedEncoder* model = nullptr;        ///< one of `models`
  decoding::EncoderResult result = decoding::EncoderResult::kVector;
  std::vector<data::EncoderInput> inputs;
  std::stop_token cancel = {};
  TurnQueue::Clock::time_point deadline = {};
  /// Called with what was computed for an input. Threads: it runs in threads of the model, for several inputs at a
  /// time.
  std::function<void(size_t input, std::span<const float> values)> on_encoded = {};
  /// Called once, with null or with the error; see QueuedJob.
  std::function<void(const std::exception_ptr& error)> done = {};
};

/// Encodes the texts of requests. Jobs take turns, one text each (TurnQueue). Texts that wait for the same model go
/// through it together (EncoderService). The cost of a text is the number of its tokens.
/// Threads: safe for use by any number of threads.
class EncodingService {
 public:
  /// @param first_rate  assumed tokens per second, see Admission
  EncodingService(const AdmissionLimits& limits, double first_rate, TurnQueue::OnBegun on_begun)
      : queue_(limits, first_rate, std::move(on_begun)) {}

  /// Adds a job. Throws: HttpError(503): "The server is busy, try again", with Retry-After, if the job is not admitted.
  void submit(EncodingJob job);
  [[nodiscard]] ServiceCounts counts() const { return queue_.counts(); }

 private:
  TurnQueue queue_;
};

}  // namespace dragoman::serving
