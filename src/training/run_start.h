#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "distributed/process_group.h"
#include "tensor/safetensors.h"
#include "training/checkpoint.h"
#include "training/task.h"
#include "training/train_options.h"

namespace dragoman::training {

/// What a run begins with.
struct RunStart {
  std::optional<Checkpoint> checkpoint;  ///< to resume from; its folder is there for the leading rank
  data::VocabularyPair vocabularies;     ///< of the checkpoint, of the model to start from, or learned from the text
  std::string initial_config;  ///< config.json of the checkpoint or of TrainOptions::initial_model, else empty
  std::string labels;          ///< labels.json of the checkpoint or of TrainOptions::initial_model, else empty
  std::string languages;       ///< languages.json of TrainOptions::initial_model of a new run, else empty
  tensor::NamedTensors initial_weights;  ///< of TrainOptions::initial_model, for the leading rank of a new run
};

/// The leading rank looks for the newest checkpoint in the model folder, else reads the model to start from, else
/// learns the vocabularies; the others are told. What a person should know goes to `notes`, on the leading rank;
/// `terminal` hears now of what takes long. Throws Error(kBadData) for a checkpoint of another version, a damaged model
/// to start from, or training text that no vocabulary can be learned from; Error(kUsage) for a model that `quantize`
/// rounded, and as check_model_is_of_a_run.
RunStart find_run_start(const TrainOptions& options, const Task& task, distributed::ProcessGroup& processes,
                        std::ostream& terminal, std::vector<std::string>& notes);

/// Refuses a folder whose model no run of `train` has made here: training would replace the model. A model that a run
/// has made stands beside its checkpoints.
/// Throws Error(kUsage): "DIR: holds a model, but no checkpoint of a run that could go on; training would replace the
/// model; ...".
void check_model_is_of_a_run(const std::filesystem::path& folder);

/// The precision that was asked for; with "auto" the one the run began with, or else the fastest of this machine.
kernels::Precision precision_of_run(const TrainOptions& options, const std::optional<Checkpoint>& checkpoint);

/// Fills weights and optimizer from the checkpoint: the leading rank reads it, the others are told.
void restore_tensors(const Checkpoint& checkpoint, distributed::ProcessGroup& processes, models::Model& model,
                     OptimizerTensors& optimizer);

}  // namespace dragoman::training
