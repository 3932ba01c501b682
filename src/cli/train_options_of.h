#pragma once

#include <string>
#include <vector>

#include "training/train_options.h"

namespace dragoman::cli {

/// Returns the options that a command line of `train` means, checked as far as can be without reading its texts. No
/// file is read but that of --model-config.
/// @param arguments  what stands behind "train", without --model
/// Throws: Error(kUsage) for options that do not fit, "--d-model is 100, must be a multiple of n_heads (8)".
training::TrainOptions train_options_of(const std::vector<std::string>& arguments);

}  // namespace dragoman::cli
