#pragma once

#include <memory>

#include "training/task.h"

namespace dragoman::training {

/// Makes the task that `options.task` names.
/// Throws: Error(kUsage), "train: task is "x", must be one of translation, language-model, ...", and for its files that
/// are missing in `options`; Error(kBadData) for files that cannot be used.
std::unique_ptr<Task> make_task(const TrainOptions& options);

}  // namespace dragoman::training
