#pragma once

#include <string_view>

#include "training/train_options.h"

namespace dragoman::training {

/// Refuses a preset of another kind of model, before any text is read. A run with TrainOptions::initial_model has the
/// shape of that model, which check_model_suits looks at.
/// Throws: Error(kUsage), "train: task text-to-text needs an encoder and a decoder, the preset bert-mini has a
/// model of architecture encoder-only; choose --preset t5-mini".
void check_preset_suits(models::ModelKind needed, const TrainOptions& options);

/// Refuses a model to start from of another kind.
/// @param task  its name, for the error
/// Throws: Error(kUsage), "train: task classify needs an encoder, --initial-model holds a model of architecture
/// transformer; ...".
void check_model_suits(models::ModelKind needed, std::string_view task, const models::ModelConfig& model);

}  // namespace dragoman::training
