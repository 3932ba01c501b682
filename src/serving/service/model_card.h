#pragma once

#include <string>
#include <vector>

#include "decoding/translator.h"
#include "report/metrics_log.h"

namespace dragoman::serving {

/// Returns the JSON of GET /v1/model: name, configuration, number of parameters by module, search defaults and training
/// curves, and sentences to try the model with. A curve has at most 400 points, evenly chosen, with the first and the
/// last one.
///   {"name": "quickstart", "config": {...}, "parameters": {"total": 878592, "parts": [{"path": "embedding", ...}]},
///    "search": {"beam_size": 4, ...}, "training": {"train": [...], "validation": [...]}, "examples": ["..."]}
/// @param history  the training of the model; empty if its folder has no metrics
/// @param examples  sentences of its validation text; empty if its folder has none
[[nodiscard]] std::string model_card(const std::string& name, const decoding::Translator& translator,
                                     const report::MetricsHistory& history, const std::vector<std::string>& examples);

}  // namespace dragoman::serving
