#pragma once

#include <vector>

#include "data/examples.h"
#include "training/validation.h"

namespace dragoman::training {

/// Validates a model by its loss on pairs of ids, and shows what it writes for the first of them.
class PairsValidation : public Validation {
 public:
  /// @param pairs  empty = there are none
  PairsValidation(const TrainOptions& options, data::Vocabulary vocabulary, std::vector<data::SentencePair> pairs);

  bool has_data() const override { return !batches_.empty(); }
  ValidationResult run(DataParallel& replicas, const models::Model& model, distributed::ProcessGroup& processes,
                       const ValidationLimits& limits) const override;

 private:
  data::Vocabulary vocabulary_;
  std::vector<data::SentencePair> shown_;
  std::vector<data::Batch> batches_;
  int workers_;
};

}  // namespace dragoman::training
