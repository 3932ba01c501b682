#pragma once

#include <memory>

#include "training/task.h"

namespace dragoman::training {

/// Throws: Error(kUsage) unless `options` names source and target files, and validation files of both sides or none,
/// and for options that translation does not read.
void check_translation(const TrainOptions& options);

/// Translation: line n of the target files translates line n of the source files. The loss is that of the next target
/// word; validation is loss, BLEU and chrF of translated text. Requires: check_translation.
/// Throws: Error(kBadData) as data::ParallelCorpus.
std::unique_ptr<Task> make_translation_task(const TrainOptions& options);

}  // namespace dragoman::training
