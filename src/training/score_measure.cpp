#include "training/score_measure.h"

#include <fmt/format.h>

namespace dragoman::training {
namespace {

void append_change(std::string& changes, const std::string& change) {
  changes += (changes.empty() ? "" : "; ") + change;
}

}  // namespace

ScoreMeasure measure_of(const RunOptions& options, const std::string& validation_fingerprint) {
  ScoreMeasure measure;
  measure.metric = base::name_of(options.metric);
  measure.validation = validation_fingerprint;
  if (options.metric != ValidationMetric::kLoss) {
    measure.beam = std::to_string(options.validation_beam);
  }
  if (options.metric == ValidationMetric::kBleu) {
    measure.tokenizer = evaluation::tokenizer_name(options.tokenize);
  }
  return measure;
}

std::string changes_of(const ScoreMeasure& before, const ScoreMeasure& now) {
  if (before.metric.empty() || now.metric.empty()) {
    return "";
  }
  std::string changes;
  if (before.metric != now.metric) {
    append_change(changes, fmt::format("metric {}, now {}", before.metric, now.metric));
  }
  if (before.metric == now.metric && before.tokenizer != now.tokenizer) {
    append_change(changes, fmt::format("tokenizer {}, now {}", before.tokenizer, now.tokenizer));
  }
  if (!before.beam.empty() && !now.beam.empty() && before.beam != now.beam) {
    append_change(changes, fmt::format("validation beam {}, now {}", before.beam, now.beam));
  }
  if (before.validation != now.validation) {
    append_change(changes, "other validation text");
  }
  return changes;
}

}  // namespace dragoman::training
