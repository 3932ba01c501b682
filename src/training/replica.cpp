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
  Pass pass;
  if (update.records && model_->can_be_recorded()) {
    pass = recorded_.run(objective_, parameters(), shard, update,
                         [&](const RepeatedPass* again, const uint32_t* step_on_device) {
                           return compute(shard, update, again, step_on_device, seconds, on_final);
                         });
  } else {
    pass = compute(shard, update, nullptr, nullptr, seconds, on_final);
  }
  return {pass.sums, std::move(pass.pending)};
}

Pass Replica::compute(const data::Batch& shard, const UpdateContext& update, const RepeatedPass* again,
                      const uint32_t* step_on_device, PassSeconds& seconds, const autograd::Tape::FinalHook& on_final) {
  nn::ForwardContext context;
  context.training = true;
  context.seed = update.seed;
  context.step = static_cast<uint32_t>(update.step);
  context.step_on_device = step_on_device;
  context.recompute = update.recompute;
  context.statistics = update.statistics;
  base::Lap lap;
  autograd::Tape tape;
  tape.on_final(on_final);
  const autograd::TapeScope recording(&tape);
  const double scale = 1.0 / static_cast<double>(update.update_tokens);
  Pass pass = again == nullptr ? objective_.train(*model_, shard, context, scale) : again->run(*model_, context, scale);
  seconds.forward += lap();
  tape.backward(pass.loss);
  seconds.backward += lap();
  return pass;
}

LossSums Replica::evaluate(const data::Batch& batch) const {
  const autograd::NoGrad inference;
  return objective_.evaluate(*model_, batch);
}

}  // namespace dragoman::training
