#include "cli/training_curve.h"

#include "base/error.h"
#include "training/metrics_log.h"

namespace dragoman::cli {

serving::TrainingCurve read_training_curve(const std::filesystem::path& folder) {
  serving::TrainingCurve curve;
  try {
    const training::MetricsHistory history = training::read_metrics(folder / "metrics.jsonl");
    for (const training::TrainRow& row : history.train) {
      curve.train.push_back({row.step, row.seconds, row.loss});
    }
    for (const training::ValidationRow& row : history.validation) {
      curve.validation.push_back({row.step, row.seconds, row.loss, row.perplexity, row.bleu, row.chrf, row.is_best});
    }
  } catch (const base::Error&) {
    return {};
  }
  return curve;
}

}  // namespace dragoman::cli
