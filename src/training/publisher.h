#pragma once

#include <filesystem>
#include <vector>

#include "distributed/process_group.h"
#include "training/checkpoint.h"
#include "training/train_options.h"

namespace dragoman::training {

/// Writes the model folder of a run: the model at its top and the checkpoints. Only the leading process writes.
class Publisher {
 public:
  /// Requires: `options` and `processes` outlive this.
  Publisher(const TrainOptions& options, distributed::ProcessGroup& processes, ModelTexts texts);

  /// Makes `model` the model at the top of the folder. Throws: Error(kCannotWrite).
  void publish(const models::Model& model) const;
  /// Whether there is a model at the top.
  bool has_model() const;
  /// Whether the model at the top has the weights of `model`. A damaged model has not.
  bool holds(const models::Model& model) const;

  /// Writes a checkpoint of `state` and prunes the old ones. Returns: its name; empty on a process that does not lead.
  /// Throws: Error(kRuntime) if a weight is not finite, Error(kCannotWrite). The other checkpoints stay intact then.
  std::string save(const models::Model& model, const OptimizerTensors& optimizer, const RunState& state) const;
  /// Returns: the checkpoints whose weights the run averages in the end; none on a process that does not lead.
  std::vector<std::filesystem::path> checkpoints_to_average(const RunState& state) const;

 private:
  const TrainOptions& options_;
  distributed::ProcessGroup& processes_;
  ModelTexts texts_;
};

}  // namespace dragoman::training
