#pragma once

#include <memory>

#include "training/task.h"

namespace dragoman::training {

/// Makes the task of hidden pieces of running text (data::MaskedExamples). Requires: check_reads_text. Throws: as
/// make_task.
std::unique_ptr<Task> make_masked_language_model_task(const TrainOptions& options);

}  // namespace dragoman::training
