#pragma once

#include <memory>

#include "data/batch.h"
#include "models/model.h"
#include "training/loss_sums.h"

namespace dragoman::training {

/// What a pass over one update needs to know.
struct UpdateKey {
  uint64_t seed = 0;
  int64_t step = 0;
  double label_smoothing = 0.0;
  double rdrop = 0.0;         ///< weight of the divergence between two passes (ops::RdropOptions::alpha); 0 = one pass
  int64_t update_tokens = 1;  ///< target tokens of the whole update: the loss is divided by them
  nn::Recompute recompute = nn::Recompute::kNone;
};

/// Where a pass spent its time, in seconds. The output layer and the loss compute their gradient in the forward.
struct PassSeconds {
  double forward = 0.0;
  double backward = 0.0;
};

/// One worker's model. The weights are shared with the other replicas; gradients and activations are its own.
/// Used by one thread at a time.
class Replica {
 public:
  /// @param shared  the model whose weights are used; must outlive this.
  explicit Replica(models::Model& shared);

  /// Adds the gradient of (sum of smoothed cross-entropy) / update_tokens over one shard. With R-Drop the shard goes
  /// through the model twice under different dropout masks (ops::rdrop_cross_entropy); the sums of the loss are then
  /// the mean of both passes, comparable with those of one.
  /// @param on_final  told of each parameter as its gradient is final: for the last shard of an update
  /// @param seconds  the time spent is added to it
  LossSums forward_backward(const data::Batch& shard, const UpdateKey& key, PassSeconds& seconds,
                            const autograd::Tape::FinalHook& on_final = {});
  /// Loss without gradients and without dropout.
  LossSums evaluate(const data::Batch& batch, double label_smoothing) const;
  nn::ParameterSet& parameters() { return model_->parameters(); }

 private:
  std::unique_ptr<models::Model> model_;
};

}  // namespace dragoman::training
