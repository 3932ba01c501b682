#pragma once

#include <string>

#include "decoding/translator.h"
#include "report/metrics_log.h"

namespace dragoman::serving {

/// The JSON of GET /v1/model: name, architecture, numbers of parameters by part, search defaults, training curve.
/// At most 400 points of each curve are kept: evenly chosen, with the first and the last.
/// @param history  how the model was trained; empty where its folder does not say
///   {"name": "quickstart", "config": {...}, "parameters": {"total": 878592, "parts": [{"path": "embedding", ...}]},
///    "search": {"beam_size": 4, ...}, "training": {"train": [...], "validation": [...]}}
std::string model_card(const std::string& name, const decoding::Translator& translator,
                       const report::MetricsHistory& history);

}  // namespace dragoman::serving
