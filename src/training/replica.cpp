#include "training/replica.h"

#include "base/lap.h"
#include "models/architectures/architectures.h"
#include "ops/linear_cross_entropy.h"
#include "ops/rdrop_cross_entropy.h"
#include "tensor/transfer.h"

namespace dragoman::training {
namespace {

using models::TokenRows;
using models::Variable;

// Masks of the second pass of R-Drop are keyed by step + 2^31, which no step reaches: whatever is keyed by rows and
// columns differs from the first pass, however the update is cut into shards.
constexpr uint32_t kSecondPass = uint32_t{1} << 31;

// A shard as the model takes it.
struct Rows {
  explicit Rows(const data::Batch& batch)
      : source(models::make_token_rows(batch.source, batch.source_offsets, batch.first_source_row)),
        target(models::make_token_rows(batch.target_input, batch.target_offsets, batch.first_target_row)),
        expected(tensor::host_tensor(batch.target_output)) {}

  TokenRows source;
  TokenRows target;
  tensor::Tensor expected;  // [Nt] int32
};

LossSums one_pass(const models::Model& model, const Rows& rows, const nn::ForwardContext& context,
                  const kernels::LossOptions& options, Variable& loss) {
  const Variable hidden = model.forward({rows.source, rows.target}, context);  // [Nt, D]
  const models::OutputLayer output = model.output();
  const ops::LossResult result = ops::linear_cross_entropy(hidden, output.weight, output.bias, rows.expected, options);
  loss = result.loss;
  return {result.loss.value().item() / options.gradient_scale, result.nll, rows.expected.dim(0), result.correct};
}

LossSums two_passes(const models::Model& model, const Rows& rows, nn::ForwardContext context,
                    const ops::RdropOptions& options, Variable& loss) {
  const Variable first = model.forward({rows.source, rows.target}, context);  // [Nt, D]
  context.step |= kSecondPass;
  const Variable second = model.forward({rows.source, rows.target}, context);  // [Nt, D]
  const models::OutputLayer output = model.output();
  const ops::RdropResult result =
      ops::rdrop_cross_entropy(first, second, output.weight, output.bias, rows.expected, options);
  loss = result.loss;
  return {result.smoothed, result.nll, rows.expected.dim(0), result.correct, result.divergence};
}

}  // namespace

Replica::Replica(models::Model& shared) : model_(models::make_model(shared.config())) {
  model_->parameters().share_values(shared.parameters());
  model_->parameters().allocate_gradients();
}

LossSums Replica::forward_backward(const data::Batch& shard, const UpdateKey& key, PassSeconds& seconds,
                                   const autograd::Tape::FinalHook& on_final) {
  if (shard.target_output.empty()) {
    return {};
  }
  const nn::ForwardContext context{true, key.seed, static_cast<uint32_t>(key.step), nullptr, key.recompute};
  base::Lap lap;
  autograd::Tape tape;
  tape.on_final(on_final);
  const autograd::TapeScope recording(&tape);
  Variable loss;
  const kernels::LossOptions options{static_cast<float>(key.label_smoothing),
                                     1.0 / static_cast<double>(key.update_tokens)};
  const LossSums sums = key.rdrop > 0.0 ? two_passes(*model_, Rows(shard), context, {options, key.rdrop}, loss)
                                        : one_pass(*model_, Rows(shard), context, options, loss);
  seconds.forward += lap();
  tape.backward(loss);
  seconds.backward += lap();
  return sums;
}

LossSums Replica::evaluate(const data::Batch& batch, double label_smoothing) const {
  const autograd::NoGrad inference;
  Variable loss;
  return one_pass(*model_, Rows(batch), {}, {static_cast<float>(label_smoothing), 1.0}, loss);
}

}  // namespace dragoman::training
