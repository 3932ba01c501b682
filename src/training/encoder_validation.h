#pragma once

#include <vector>

#include "training/validation.h"

namespace dragoman::training {

/// Validates an encoder by the loss and the accuracy of its targets: labels of texts, tags of words, hidden pieces.
class EncoderValidation : public Validation {
 public:
  /// @param pairs  examples of validation; empty = there are none
  EncoderValidation(const std::vector<data::SentencePair>& pairs, int64_t batch_tokens);

  bool has_data() const override { return !batches_.empty(); }
  ValidationResult run(DataParallel& replicas, const models::Model& model, distributed::ProcessGroup& processes,
                       const ValidationLimits& limits) const override;

 private:
  std::vector<data::Batch> batches_;
};

}  // namespace dragoman::training
