#include "training/replica.h"

#include "ops/linear_cross_entropy.h"

namespace dragoman::training {
namespace {

using models::TokenRows;
using models::Variable;

LossSums run(const models::Transformer& model, const data::Batch& batch, const nn::ForwardContext& context,
             const ops::LossOptions& options, Variable* loss) {
  const TokenRows source = models::make_token_rows(batch.source, batch.source_offsets, batch.first_source_row);
  const TokenRows target = models::make_token_rows(batch.target_input, batch.target_offsets, batch.first_target_row);
  const auto n_tokens = static_cast<int64_t>(batch.target_output.size());
  const tensor::Tensor expected = tensor::Tensor::from(batch.target_output, {n_tokens});  // [Nt]
  const Variable hidden = model.forward(source, target, context);                         // [Nt, D]
  const ops::LossResult result = ops::linear_cross_entropy(hidden, model.output_weight(), {}, expected, options);
  if (loss != nullptr) {
    *loss = result.loss;
  }
  return {result.loss.value().item() / options.gradient_scale, result.nll, n_tokens, result.correct};
}

}  // namespace

Replica::Replica(models::Transformer& shared) : model_(std::make_unique<models::Transformer>(shared.config())) {
  model_->parameters().share_values(shared.parameters());
  model_->parameters().allocate_gradients();
}

LossSums Replica::forward_backward(const data::Batch& shard, const UpdateKey& key) {
  if (shard.target_output.empty()) {
    return {};
  }
  const nn::ForwardContext context{true, key.seed, static_cast<uint32_t>(key.step), nullptr};
  autograd::Tape tape;
  const autograd::TapeScope recording(&tape);
  Variable loss;
  const LossSums sums =
      run(*model_, shard, context,
          {static_cast<float>(key.label_smoothing), 1.0 / static_cast<double>(key.update_tokens)}, &loss);
  tape.backward(loss);
  return sums;
}

LossSums Replica::evaluate(const data::Batch& batch, double label_smoothing) const {
  const autograd::NoGrad inference;
  return run(*model_, batch, {}, {static_cast<float>(label_smoothing), 1.0}, nullptr);
}

}  // namespace dragoman::training
