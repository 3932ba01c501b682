#pragma once

#include <memory>

#include "training/task.h"

namespace dragoman::training {

/// Refuses options that the task named by `options.task` cannot follow, and missing names of files. Reads no file.
/// Throws: Error(kUsage), "train: task is "x", must be one of translation, language-model, ..."; "train: --vocab-type
/// is byte-bpe, which task translation does not learn; choose one of unigram, bpe, or give a --tokenizer"; "train:
/// --metric accuracy is not measured by task translation; choose bleu, chrf, loss".
void check_task(const TrainOptions& options);

/// Whether each line of the training text must have a form, such as a label and a tab in front of a text.
bool reads_lines(const TrainOptions& options);

/// Makes the task that `options.task` names.
/// Throws: as check_task; Error(kBadData) for files that cannot be used.
std::unique_ptr<Task> make_task(const TrainOptions& options);

}  // namespace dragoman::training
