#pragma once

#include <optional>
#include <string>
#include <vector>

#include "distributed/process_group.h"
#include "report/metrics_log.h"
#include "report/svg_heat_map.h"
#include "report/training_report_data.h"
#include "training/data_parallel.h"
#include "training/train_options.h"

namespace dragoman::training {

/// How good the model is on the validation text. A score that the task does not have is report::kNotMeasured.
struct ValidationResult {
  LossSums sums;
  double bleu = report::kNotMeasured;              ///< 0 to 100
  double chrf = report::kNotMeasured;              ///< 0 to 100
  double accuracy = report::kNotMeasured;          ///< 0 to 100, of labels, of hidden words or of pairs of texts
  double mrr = report::kNotMeasured;               ///< 0 to 100, mean reciprocal rank of the right texts
  double bits_per_byte = report::kNotMeasured;     ///< of text in UTF-8, by a language model
  std::vector<report::SampleTranslation> samples;  ///< the first sentences, for the report

  /// Returns: the score by `metric`, turned so that higher is better (loss: minus nats per token). BLEU below 1 is
  /// chance, the more so the less a model has learned; the score is minus nats per token then, and below all others.
  double score(ValidationMetric metric) const;
  /// Returns: {"BLEU 31.20", "chrF 55.10"}, without what was not measured.
  std::vector<std::string> scores_text() const;
};

/// What a validation may use when memory is short. Neither changes a result.
struct ValidationLimits {
  std::optional<int64_t> search_tokens;  ///< source tokens in work in a worker of a search; none = the default
  bool gives_back = false;               ///< the replicas give back the memory of their passes before a search
};

/// The validation of a task: how good is a model on text that it has not seen?
class Validation {
 public:
  virtual ~Validation() = default;

  /// Whether there is validation text. Without any, no other function but warnings() may be called.
  virtual bool has_data() const = 0;
  /// Returns: what a person should be told of the validation text before the first update.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// The processes share the work and all get the same result.
  /// @param model  the one whose weights `replicas` share
  virtual ValidationResult run(DataParallel& replicas, const models::Model& model, distributed::ProcessGroup& processes,
                               const ValidationLimits& limits) const = 0;
  /// Returns: pictures of the model at work on the first sentence, for the report.
  virtual std::vector<report::HeatMap> pictures(const models::Model& /*model*/) const { return {}; }
};

}  // namespace dragoman::training
