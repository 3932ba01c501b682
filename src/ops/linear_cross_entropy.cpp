#include "ops/linear_cross_entropy.h"

#include <algorithm>

#include "base/error.h"
#include "ops/check_ids.h"
#include "ops/cross_entropy_cpu.h"
#include "ops/logit_chunks.h"
#include "ops/reference/cross_entropy.h"

namespace dragoman::ops {
namespace {

// One name for both dtypes: the float32 kernel and the float64 reference.
using ops::cross_entropy_row;
using ops::cross_entropy_row_gradient;
using reference::cross_entropy_row;
using reference::cross_entropy_row_gradient;
using tensor::DType;

// The sums of one call so far.
struct Sums {
  double smoothed = 0;
  double nll = 0;
  int64_t correct = 0;
};

// Adds the losses of a chunk. When learning, the logits are replaced by their gradient.
template <typename T>
void add_losses(const int32_t* targets, const LossOptions& options, bool learning, Tensor& logits, Sums& sums) {
  for (int64_t n = 0; n < logits.dim(0); ++n) {
    T* row = logits.data<T>() + n * logits.stride(0);
    const RowLoss loss = learning ? cross_entropy_row_gradient(row, logits.dim(1), targets[n], options)
                                  : cross_entropy_row(row, logits.dim(1), targets[n], options.label_smoothing);
    sums.smoothed += loss.smoothed;
    sums.nll += loss.nll;
    sums.correct += loss.correct ? 1 : 0;
  }
}

}  // namespace

LossResult linear_cross_entropy(const Variable& hidden, const Variable& weight, const Variable& bias,
                                const Tensor& targets, const LossOptions& options) {
  LogitChunks::check(hidden.value(), weight, bias, "linear_cross_entropy");
  check_ids(targets, hidden.dim(0), weight.dim(0), "linear_cross_entropy", "targets");
  check_loss_options(options, "linear_cross_entropy");
  const bool learning = autograd::needs_grad({&hidden, &weight, &bias});
  const auto add = hidden.dtype() == DType::kFloat64 ? add_losses<double> : add_losses<float>;
  Tensor grad_hidden;
  if (learning && hidden.requires_grad()) {
    grad_hidden = Tensor::empty(hidden.shape(), hidden.dtype());  // [N, D]
  }
  LogitChunks chunks(weight, bias, hidden.dim(0));
  Sums sums;
  for (int64_t begin = 0; begin < hidden.dim(0); begin += LogitChunks::kRows) {
    const int64_t end = std::min(begin + LogitChunks::kRows, hidden.dim(0));
    const Tensor chunk = hidden.value().rows(begin, end);  // [C, D]
    Tensor logits = chunks.compute(chunk);                 // [C, V]
    add(targets.data<int32_t>() + begin, options, learning, logits, sums);
    if (learning) {
      Tensor grad = grad_hidden.defined() ? grad_hidden.rows(begin, end) : Tensor();  // [C, D]
      chunks.backward(chunk, logits, grad.defined() ? &grad : nullptr);
    }
  }
  const auto backward = [hidden = hidden.without_value(), grad_hidden](const Tensor& grad_loss) {
    base::check_argument(grad_loss.item() == 1.0,
                         "linear_cross_entropy: the gradient of the loss is {}, must be 1; use gradient_scale",
                         grad_loss.item());
    if (grad_hidden.defined()) {
      hidden.add_grad(grad_hidden);
    }
  };
  Tensor loss = Tensor::full({}, options.gradient_scale * sums.smoothed, hidden.dtype());
  return {autograd::record("linear_cross_entropy", std::move(loss), {&hidden, &weight, &bias}, backward), sums.nll,
          sums.correct};
}

}  // namespace dragoman::ops
