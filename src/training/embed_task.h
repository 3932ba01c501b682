#pragma once

#include <memory>

#include "training/task.h"

namespace dragoman::training {

/// Throws: Error(kUsage) if both --text and --source name the text, or none, and for options that it does not read.
void check_embed(const TrainOptions& options);

/// Makes the task of vectors of texts: pairs of texts that mean the same get near vectors, other texts far ones. The
/// pairs are those of --source and --target, or of --text with a tab in each line.
/// Requires: check_embed. Throws: Error(kBadData) as data::ParallelCorpus and data::read_tab_pairs, and for fewer than
/// two pairs.
std::unique_ptr<Task> make_embed_task(const TrainOptions& options);

}  // namespace dragoman::training
