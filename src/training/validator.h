#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/encoded_corpus.h"
#include "decoding/search/options.h"
#include "training/data_parallel.h"
#include "training/train_options.h"

namespace dragoman::training {

/// How good the model is on the validation text.
struct ValidationResult {
  LossSums sums;
  double bleu = 0.0;  ///< 0 to 100, of decoded text against the reference (RunOptions::tokenize, mixed case)
  double chrf = 0.0;  ///< 0 to 100
  std::vector<std::string> translations;

  /// The chosen metric, turned so that higher is better (loss: minus nats per token).
  double score(ValidationMetric metric) const;
};

/// A warning when `tokenize` would take whole sentences of the references for words. Empty when all is well.
std::string tokenizer_warning(evaluation::Tokenizer tokenize, std::span<const std::string> references);

/// Validates by loss and by translating: real text, sub-words joined, scored as `dragoman evaluate` scores.
class Validator {
 public:
  /// Reads the validation files of `options`; without any, `has_data()` is false and run() must not be called.
  Validator(const TrainOptions& options, const data::Vocabulary& source, const data::Vocabulary& target);

  bool has_data() const { return !sources_.empty(); }
  /// The processes share the work and all get the same result.
  /// @param model  whose weights `replicas` share
  ValidationResult run(DataParallel& replicas, const models::Model& model, distributed::ProcessGroup& processes) const;

  /// From now on translates with `search_tokens` source tokens in work in a worker, and before it does, makes the
  /// replicas give back what their passes held if `alone`. Neither changes a result.
  void limit_memory(int64_t search_tokens, bool alone) {
    search_tokens_ = search_tokens;
    alone_ = alone;
  }

  const std::vector<std::string>& sources() const { return sources_; }
  const std::vector<std::string>& references() const { return references_; }
  const data::Vocabulary& source_vocabulary() const { return source_vocabulary_; }
  const data::Vocabulary& target_vocabulary() const { return target_vocabulary_; }

 private:
  std::vector<std::string> translate(const models::Model& model, distributed::ProcessGroup& processes) const;

  data::Vocabulary source_vocabulary_;
  data::Vocabulary target_vocabulary_;
  std::vector<std::string> sources_;
  std::vector<std::string> references_;
  std::vector<data::Batch> batches_;
  evaluation::Tokenizer tokenize_;
  int beam_size_;
  int workers_;
  int64_t search_tokens_ = decoding::SearchOptions().batch_tokens;
  bool alone_ = false;
};

}  // namespace dragoman::training
