#pragma once

#include <memory>

#include "data/batch.h"
#include "models/model.h"
#include "training/objective.h"

namespace dragoman::training {

/// What the passes of one update share.
struct UpdateContext {
  uint64_t seed = 0;
  int64_t step = 0;
  int64_t update_tokens = 1;  ///< target tokens of the whole update: the loss is divided by them
  nn::Recompute recompute = nn::Recompute::kNone;
  nn::BatchStatistics* statistics = nullptr;  ///< of the replica, if the model has batch norms
};

/// The seconds that a pass took. The output layer and the loss compute their gradient in the forward.
struct PassSeconds {
  double forward = 0.0;
  double backward = 0.0;
};

/// The model of one worker. The weights are shared with the other replicas; gradients and activations are its own.
/// Threads: one at a time.
class Replica {
 public:
  /// @param shared  the model whose weights are used
  /// Requires: both outlive this.
  Replica(models::Model& shared, const Objective& objective);

  /// The sums of a pass.
  struct Sums {
    LossSums known;
    PendingSums pending{};
  };

  /// Adds the gradient of the loss of one shard.
  /// @param on_final  is told of each parameter whose gradient is final; for the last shard of an update
  /// @param seconds  the time spent is added to it
  Sums forward_backward(const data::Batch& shard, const UpdateContext& update, PassSeconds& seconds,
                        const autograd::Tape::FinalHook& on_final = {});
  /// Returns the loss without gradients and without dropout.
  LossSums evaluate(const data::Batch& batch) const;
  nn::ParameterSet& parameters() { return model_->parameters(); }

 private:
  std::unique_ptr<models::Model> model_;
  const Objective& objective_;
};

}  // namespace dragoman::training
