#pragma once

#include <string>
#include <vector>

#include "training/train_options.h"

namespace dragoman::training {

/// Returns: a line for each option that was changed from what the preset says but changes nothing, because another
/// option switches it off: "--simcut-words is of no use while --simcut is 0". Empty where there is none. These are
/// warnings and no errors: the rows of a study share options that only some of them use.
std::vector<std::string> idle_options(const TrainOptions& options);

}  // namespace dragoman::training
