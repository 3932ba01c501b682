#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/metrics_log.h"

namespace dragoman::serving {

/// What the training left in the folder of a model.
struct TrainingRecord {
  report::MetricsHistory history = {};     ///< empty if metrics.jsonl is missing or cannot be read
  std::vector<std::string> examples = {};  ///< sentences of the validation text, each once; none of an imported model
};

/// Reads the record. A file that cannot be read counts as missing: a server starts without it.
[[nodiscard]] TrainingRecord training_record(const std::filesystem::path& folder);

}  // namespace dragoman::serving
