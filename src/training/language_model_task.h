#pragma once

#include <memory>

#include "training/task.h"

namespace dragoman::training {

/// Throws: Error(kUsage) unless `options` names text files, and for options that a language model does not read.
void check_language_model(const TrainOptions& options);

/// Language model: each token of running text is predicted from those before it in its window. Validation is loss,
/// perplexity and bits per byte of the validation text, and samples of what the model writes.
/// Requires: check_language_model. Throws: Error(kBadData) as data::read_documents.
std::unique_ptr<Task> make_language_model_task(const TrainOptions& options);

}  // namespace dragoman::training
