#include "ops/linear_cross_entropy.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"
#include "kernels/cpu/output/cross_entropy_cpu.h"
#include "ops/logit_chunks.h"
#include "ops/logit_parts.h"

namespace dragoman::ops {
namespace {

using kernels::TokenLosses;

// What the loss of a call is computed from.
struct LossInputs {
  const Tensor& hidden;   // [N, D]
  const Tensor& rounded;  // the same in bfloat16, or undefined
  const Tensor& targets;  // [N] int32
  const Weight& weight;
  const Variable& bias;
  const LossOptions& options;
};

// Some tokens after the others, all logits of each at once.
TokenLosses losses_in_chunks(const LossInputs& inputs, bool learning, const Tensor& grad_hidden) {
  const kernels::Backend& backend = kernels::backend_of(inputs.hidden);
  const int64_t n_tokens = inputs.hidden.dim(0);
  const int64_t rows = LogitChunks::rows_at_once(inputs.hidden);
  LogitChunks chunks(inputs.weight, inputs.bias, std::min(rows, n_tokens), learning);
  TokenLosses sums;
  for (int64_t begin = 0; begin < n_tokens; begin += rows) {
    const int64_t end = std::min(begin + rows, n_tokens);
    const Tensor chunk = inputs.hidden.rows(begin, end);     // [C, D]
    Tensor logits = chunks.compute(chunk);                   // [C, V]
    const Tensor targets = inputs.targets.rows(begin, end);  // [C]
    if (!learning) {
      backend.cross_entropy(logits, targets, inputs.options.label_smoothing, sums);
    } else {
      backend.cross_entropy_gradient(logits, targets, inputs.options, sums);
      Tensor grad = grad_hidden.defined() ? grad_hidden.rows(begin, end) : Tensor();  // [C, D]
      chunks.backward(chunk, logits, grad.defined() ? &grad : nullptr);
    }
  }
  return sums;
}

// The sums of C rows of logits, which exist in parts only.
std::vector<kernels::RowSums> row_sums(const LogitParts& logits, const Tensor& hidden, const int32_t* targets) {
  std::vector<kernels::RowSums> sums(static_cast<size_t>(hidden.dim(0)));
  logits.compute(hidden, [&](int64_t row, int64_t column, const Tensor& part) {
    for (int64_t n = 0; n < part.dim(0); ++n) {
      kernels::add_to_row_sums(part.data<float>() + n * part.stride(0), part.dim(1), targets[row + n] - column,
                               sums[static_cast<size_t>(row + n)]);
    }
  });
  return sums;
}

// Some tokens after the others, their logits in parts: once for the sums over the classes, and once more for the
// gradients.
TokenLosses losses_in_parts(const LossInputs& inputs, bool learning, const Tensor& grad_hidden) {
  const LogitParts logits(inputs.weight, inputs.bias);
  const int64_t n_tokens = inputs.hidden.dim(0), n_classes = inputs.weight.shape()[0];
  const Tensor hidden = inputs.rounded.defined() ? inputs.rounded : inputs.hidden.to(DType::kBFloat16);  // [N, D]
  TokenLosses sums;
  for (int64_t begin = 0; begin < n_tokens; begin += LogitParts::kTokens) {
    const int64_t end = std::min(begin + LogitParts::kTokens, n_tokens);
    const Tensor chunk = hidden.rows(begin, end);  // [C, D]
    const int32_t* targets = inputs.targets.data<int32_t>() + begin;
    const std::vector<kernels::RowSums> rows = row_sums(logits, chunk, targets);
    for (const kernels::RowSums& row : rows) {
      sums.add(kernels::loss_of_row_sums(row, n_classes, inputs.options.label_smoothing));
    }
    if (!learning) {
      continue;
    }
    Tensor grad = grad_hidden.defined() ? grad_hidden.rows(begin, end) : Tensor();  // [C, D]
    LogitParts::Backward backward(logits, chunk, grad.defined() ? &grad : nullptr);
    logits.compute(chunk, [&](int64_t row, int64_t column, Tensor& part) {
      for (int64_t n = 0; n < part.dim(0); ++n) {
        kernels::logits_to_gradient(part.data<float>() + n * part.stride(0), part.dim(1), targets[row + n] - column,
                                    rows[static_cast<size_t>(row + n)], n_classes, inputs.options);
      }
      backward.add(row, column, part);
    });
  }
  return sums;
}

}  // namespace

LossResult linear_cross_entropy(const Variable& hidden, const Weight& weight, const Variable& bias,
                                const Tensor& targets, const LossOptions& options) {
  LogitChunks::check(hidden.value(), weight.variable, bias, "linear_cross_entropy");
  kernels::check_ids(targets, hidden.dim(0), weight.variable.dim(0), "linear_cross_entropy", "targets");
  kernels::check_loss_options(options, "linear_cross_entropy");
  const bool learning = autograd::needs_grad({&hidden, &weight.variable, &bias});
  Tensor grad_hidden;
  if (learning && hidden.requires_grad()) {
    grad_hidden = Tensor::empty(hidden.shape(), hidden.dtype());  // [N, D]
  }
  const auto losses = LogitParts::pays(weight, learning) ? losses_in_parts : losses_in_chunks;
  const TokenLosses sums =
      losses({hidden.value(), hidden.rounded(), targets, weight, bias, options}, learning, grad_hidden);
  const auto backward = [hidden, grad_hidden](const Tensor& grad_loss) {
    base::check_argument(grad_loss.item() == 1.0,
                         "linear_cross_entropy: the gradient of the loss is {}, must be 1; use gradient_scale",
                         grad_loss.item());
    if (grad_hidden.defined()) {
      hidden.add_grad(grad_hidden);
    }
  };
  const double weights[] = {options.gradient_scale, 0.0, 0.0};
  Tensor loss = loss_value(sums.pending, weights, options.gradient_scale * sums.smoothed, hidden.dtype());
  LossResult result{
      sums, autograd::record("linear_cross_entropy", std::move(loss), {&hidden, &weight.variable, &bias}, backward)};
  result.loss.take_gradient_on_host();
  return result;
}

}  // namespace dragoman::ops
