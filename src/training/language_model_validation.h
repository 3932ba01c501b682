#pragma once

#include <string>
#include <vector>

#include "data/text_windows.h"
#include "training/validation.h"

namespace dragoman::training {

/// Validates a language model by its loss on validation text and by what it writes.
class LanguageModelValidation : public Validation {
 public:
  /// @param text  of validation, in the ids of `vocabulary`; empty = there is none
  LanguageModelValidation(const TrainOptions& options, data::Vocabulary vocabulary, data::TokenText text);

  bool has_data() const override { return !batches_.empty(); }
  ValidationResult run(DataParallel& replicas, const models::Model& model, distributed::ProcessGroup& processes,
                       const ValidationLimits& limits) const override;

 private:
  std::vector<report::SampleTranslation> samples(const models::Model& model) const;

  data::Vocabulary vocabulary_;
  data::TokenText text_;
  std::vector<data::Batch> batches_;
  int64_t context_;
  uint64_t seed_;
  int workers_;
};

}  // namespace dragoman::training
