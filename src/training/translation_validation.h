#pragma once

#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "decoding/search/options.h"
#include "training/validation.h"

namespace dragoman::training {

/// Validates by loss and by translating real text: sub-words are joined, and BLEU and chrF are those of
/// `dragoman evaluate`.
class TranslationValidation : public Validation {
 public:
  /// Reads the validation files of `options`, if they name any.
  TranslationValidation(const TrainOptions& options, data::VocabularyPair vocabularies);

  bool has_data() const override { return !sources_.empty(); }
  ValidationResult run(DataParallel& replicas, const models::Model& model, distributed::ProcessGroup& processes,
                       const ValidationLimits& limits) const override;
  std::vector<std::string> warnings() const override;
  std::vector<report::HeatMap> pictures(const models::Model& model) const override;

 private:
  std::vector<std::string> translate(const models::Model& model, distributed::ProcessGroup& processes,
                                     const decoding::ExecutionOptions& execution) const;

  data::VocabularyPair vocabularies_;
  std::vector<std::string> sources_;
  std::vector<std::string> references_;
  std::vector<data::Batch> batches_;
  evaluation::Tokenizer tokenize_;
  int beam_size_;
  int workers_;
};

}  // namespace dragoman::training
