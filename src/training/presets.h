#pragma once

#include <string>
#include <vector>

#include "training/train_options.h"

namespace dragoman::training {

/// The full recipe of a preset: tiny, tiny-hour, small, base, big, each also with -prenorm; and of language models
/// gpt-mini, gpt-char, gpt2-small, llama-mini; recurrent: gru-mini, lstm-mini; convolutional: conv-mini; text to text:
/// t5-mini; and of encoders bert-mini.
/// @param task  empty = that of the preset; a preset of an encoder has a recipe for each task of encoders
/// Throws Error(kUsage) for an unknown name, listing the known ones.
TrainOptions preset_options(const std::string& name, const std::string& task = "");

/// In the order of the help.
std::vector<std::string> preset_names();

}  // namespace dragoman::training
