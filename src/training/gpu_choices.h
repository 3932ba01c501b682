#pragma once

#include "training/train_options.h"

namespace dragoman::training {

/// Chooses what is not given for a run on a GPU: products in bfloat16, and one worker.
inline void choose_for_gpu(TrainOptions& options) {
  options.precision = options.precision.value_or(kernels::Precision::kBFloat16);
  options.run.workers = options.run.workers == 0 ? 1 : options.run.workers;
}

}  // namespace dragoman::training
