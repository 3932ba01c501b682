#include "training/encoder_validation.h"

namespace dragoman::training {

EncoderValidation::EncoderValidation(const std::vector<data::SentencePair>& pairs, int64_t batch_tokens)
    : batches_(data::cut_batches(pairs, batch_tokens)) {}

ValidationResult EncoderValidation::run(DataParallel& replicas, const models::Model& /*model*/,
                                        distributed::ProcessGroup& /*processes*/,
                                        const ValidationLimits& limits) const {
  constexpr double kPercent = 100.0;
  ValidationResult result;
  result.sums = replicas.evaluate(batches_);
  result.accuracy = kPercent * static_cast<double>(result.sums.correct) / static_cast<double>(result.sums.tokens);
  if (limits.gives_back) {
    replicas.give_back_memory();
  }
  return result;
}

}  // namespace dragoman::training
