#pragma once

#include <filesystem>

#include "serving/http/router.h"

namespace dragoman::serving {

/// Adds GET /v1/run, a training run as its folder shows it at the time of the request, and GET /frontend/settings,
/// which tells the page that it watches a run. The files are those that the trainer writes: metrics.jsonl, samples.json
/// and attention.json. A missing file, or one that cannot be read, gives an empty list.
///   {"name": "model", "step": 350, "seconds": 81.2, "idle_seconds": 1.4, "event": {"name": "finish", "text": "..."},
///    "train": [...], "validation": [...], "samples": [...], "attention": [...]}
/// `event` is the last one after the last training row, or null. With ?after=STEP, `samples` and `attention` have only
/// the sets of later steps.
void add_run_routes(Router& router, std::filesystem::path folder);

}  // namespace dragoman::serving
