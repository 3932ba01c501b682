#pragma once

#include <nlohmann/json_fwd.hpp>

#include "report/metrics_log.h"

namespace dragoman::serving {

/// Returns the training curves as JSON: {"train": [...], "validation": [...]}. A curve has at most 400 points, evenly
/// chosen, with the first and the last one.
[[nodiscard]] nlohmann::json training_curves(const report::MetricsHistory& history);

}  // namespace dragoman::serving
