#include "training/replica.h"

#include "base/lap.h"
#include "models/architectures/architectures.h"

namespace dragoman::training {

Replica::Replica(models::Model& shared, const Objective& objective)
    : model_(models::make_model(shared.config())), objective_(objective) {
  model_->parameters().share_values(shared.parameters());
  model_->parameters().allocate_gradients();
}

Replica::Sums Replica::forward_backward(const data::Batch& shard, const UpdateContext& update, PassSeconds& seconds,
                                        const autograd::Tape::FinalHook& on_final) {
  if (shard.target_output.empty() && update.statistics == nullptr) {  // other replicas wait for its sums, which are 0
    return {};
  }
  nn::ForwardContext context;
  context.training = true;
  context.seed = update.seed;
  context.step = static_cast<uint32_t>(update.step);
  context.recompute = update.recompute;
  context.statistics = update.statistics;
  base::Lap lap;
  autograd::Tape tape;
  tape.on_final(on_final);
  const autograd::TapeScope recording(&tape);
  Pass pass = objective_.train(*model_, shard, context, 1.0 / static_cast<double>(update.update_tokens));
  seconds.forward += lap();
  tape.backward(pass.loss);
  seconds.backward += lap();
  return {pass.sums, std::move(pass.pending)};
}

LossSums Replica::evaluate(const data::Batch& batch) const {
  const autograd::NoGrad inference;
  return objective_.evaluate(*model_, batch);
}

}  // namespace dragoman::training
