#pragma once

#include <filesystem>

#include "serving/model_card.h"

namespace dragoman::cli {

/// How the model in `folder` was trained, from its metrics.jsonl; empty when there is none, or none that can be read:
/// a server does not stop for it.
serving::TrainingCurve read_training_curve(const std::filesystem::path& folder);

}  // namespace dragoman::cli
