#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "data/encoder_input.h"
#include "decoding/search/hypothesis.h"
#include "decoding/search/sentence_request.h"
#include "decoding/search_service.h"
#include "models/encoder_only/encoder_only.h"

namespace dragoman::decoding {

/// What an encoder computes for an input.
enum class EncoderResult {
  kVector,  ///< [D], see embed_batch
  kLogits,  ///< [K, C], see logits_batch
};

/// What became of an EncoderTask.
struct EncodedText {
  std::span<const float> values = {};                  ///< of the result; valid during the call
  FinishReason reason = FinishReason::kEndOfSentence;  ///< kCancelled and kDeadline: there are no values
  std::exception_ptr error = {};                       ///< there are no values
};

/// One text to encode, and who is told.
struct EncoderTask {
  data::EncoderInput input = {};
  EncoderResult result = EncoderResult::kVector;
  std::stop_token cancel = {};
  Deadline deadline = Deadline::max();
  /// Called once, in a thread of the service. It must not throw.
  std::function<void(const EncodedText&)> done = {};
};

/// Threads that encode texts as they come. A thread takes the texts that wait, up to the tokens of a batch, and runs
/// them through the encoder together. The values of a text are the bits that it has alone.
/// Threads: any number at once.
class EncoderService {
 public:
  /// @param batch_tokens  of the texts that a thread encodes together; a longer text is encoded alone
  EncoderService(std::shared_ptr<const models::EncoderOnly> model, const ServiceThreads& threads, int64_t batch_tokens);
  /// Waits until every task has been answered.
  ~EncoderService();
  EncoderService(const EncoderService&) = delete;
  EncoderService& operator=(const EncoderService&) = delete;

  /// Takes over a list with one task. A text that is cancelled or late before its turn is not encoded.
  /// Requires: the model has a head for kLogits, and the input has rows for it.
  void submit(std::list<EncoderTask> task);

 private:
  using Tasks = std::list<EncoderTask>;

  void run(int team_size);
  Tasks take();
  void encode(Tasks& tasks) const;
  int64_t logits_of(const EncoderTask& task) const;
  void end();

  std::shared_ptr<const models::EncoderOnly> model_;
  int64_t batch_tokens_;
  std::shared_ptr<tensor::Allocator> memory_ = tensor::Arena::current();  // of the device of the model
  std::mutex mutex_;
  std::condition_variable arrived_;
  Tasks waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dragoman::decoding
