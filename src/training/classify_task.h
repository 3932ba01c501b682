#pragma once

#include <memory>

#include "training/task.h"

namespace dragoman::training {

/// Makes the task of classes of texts or pairs of texts, from the files that data::read_labelled_texts reads.
/// Requires: check_reads_text. Throws: as make_task; Error(kBadData) for a text with one label only, and a validation
/// label that it lacks.
std::unique_ptr<Task> make_classify_task(const TrainOptions& options);

}  // namespace dragoman::training
