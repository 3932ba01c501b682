#pragma once

#include <memory>

#include "data/batch.h"
#include "models/model.h"
#include "training/objective.h"
#include "training/recorded_pass.h"

namespace dragoman::training {

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
  /// Returns: the number of passes that ran as they were recorded. Tests read it.
  int64_t replayed() const { return recorded_.replayed(); }

 private:
  // Forward and backward of a shard, or of `again` if it is not null.
  Pass compute(const data::Batch& shard, const UpdateContext& update, const RepeatedPass* again,
               const uint32_t* step_on_device, PassSeconds& seconds, const autograd::Tape::FinalHook& on_final);

  std::unique_ptr<models::Model> model_;
  const Objective& objective_;
  RecordedPass recorded_;
};

}  // namespace dragoman::training
