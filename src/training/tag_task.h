#pragma once

#include <memory>

#include "training/task.h"

namespace dragoman::training {

/// Makes the task of tags of words, from the files that data::read_tagged_words reads. Requires and throws: as
/// make_classify_task.
std::unique_ptr<Task> make_tag_task(const TrainOptions& options);

}  // namespace dragoman::training
