#pragma once

#include <string_view>

#include "base/error.h"
#include "training/presets.h"
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

/// Requires the names of text files that a task of running or labelled text has.
/// Throws: Error(kUsage), "train: --text names the text of task classify".
void check_reads_text(const TrainOptions& options);

/// Refuses options of a part of TrainOptions that the task does not read, so that a user does not wait for their
/// effect. What the preset says stays. Throws: Error(kUsage), "train: --mask-share is of no use to task translation;
/// leave it out".
template <typename Part>
void check_no_use(Part TrainOptions::*part, const TrainOptions& options) {
  const TrainOptions of_preset = preset_options(options.preset, options.task);
  Part::fields([&](const auto& field) {
    base::check_usage(options.*part.*field.member == of_preset.*part.*field.member,
                      "train: {} is of no use to task {}; leave it out", field.flag_spelling(), options.task);
  });
}

}  // namespace dragoman::training
