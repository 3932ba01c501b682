#include "ops/rdrop_cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/check_ids.h"
#include "ops/cross_entropy_cpu.h"
#include "ops/logit_chunks.h"
#include "ops/rdrop_cross_entropy_cpu.h"
#include "ops/reference/cross_entropy.h"
#include "ops/reference/rdrop_cross_entropy.h"

namespace dragoman::ops {
namespace {

// One name for both dtypes: the float32 kernel and the float64 reference.
using ops::cross_entropy_row;
using ops::divergence_row;
using ops::rdrop_row_gradient;
using reference::cross_entropy_row;
using reference::divergence_row;
using reference::rdrop_row_gradient;
using tensor::DType;

constexpr const char* kOp = "rdrop_cross_entropy";
constexpr int64_t kChunkTokens = LogitChunks::kRows / 2;

void check_inputs(const Variable& first, const Variable& second, const Variable& weight, const Variable& bias,
                  const RdropOptions& options) {
  LogitChunks::check(first.value(), weight, bias, kOp);
  tensor::check_shape(second.value(), first.shape(), kOp, "second");
  tensor::check_matrix(second.value(), first.dtype(), kOp, "second");
  check_loss_options(options.cross_entropy, kOp);
  base::check_argument(options.alpha >= 0 && std::isfinite(options.alpha), "{}: alpha is {}, must be >= 0 and finite",
                       kOp, options.alpha);
}

// Adds the losses of a chunk of C tokens. When learning, the logits are replaced by their gradient.
// logits: [2C, V], rows 0 .. C - 1 of the first pass, rows C .. 2C - 1 of the second.
template <typename T>
void add_losses_and_divergence(const int32_t* targets, const RdropOptions& options, bool learning, Tensor& logits,
                               RdropResult& result) {
  const int64_t tokens = logits.dim(0) / 2, n_classes = logits.dim(1);
  const LossOptions& loss = options.cross_entropy;
  for (int64_t n = 0; n < tokens; ++n) {
    T* logits_p = logits.data<T>() + n * logits.stride(0);
    T* logits_q = logits.data<T>() + (tokens + n) * logits.stride(0);
    const RowLoss loss_p = cross_entropy_row(logits_p, n_classes, targets[n], loss.label_smoothing);
    const RowLoss loss_q = cross_entropy_row(logits_q, n_classes, targets[n], loss.label_smoothing);
    RdropRow row{loss_p.log_sum_exp, loss_q.log_sum_exp};
    divergence_row(logits_p, logits_q, n_classes, row);
    result.smoothed += (loss_p.smoothed + loss_q.smoothed) / 2;
    result.nll += (loss_p.nll + loss_q.nll) / 2;
    result.divergence += (row.kl_pq + row.kl_qp) / 2;
    result.correct += loss_p.correct ? 1 : 0;
    if (learning) {
      const RdropRowGradient gradient{targets[n], loss.label_smoothing, loss.gradient_scale / 2,
                                      loss.gradient_scale * options.alpha / 4};
      rdrop_row_gradient(row, gradient, n_classes, logits_p, logits_q);
    }
  }
}

// One matrix product for both passes is faster than two of half the rows, above all that for the gradient of weight.
class PairedChunks {
 public:
  PairedChunks(const Variable& first, const Variable& second)
      : first_(first), second_(second), hidden_(buffer()), grad_hidden_(buffer()) {}

  // Rows [begin, end) of both passes below each other: [2C, D]
  Tensor gather(int64_t begin, int64_t end) {
    const int64_t tokens = end - begin;
    hidden_.rows(0, tokens).copy_from(first_.value().rows(begin, end));
    hidden_.rows(tokens, 2 * tokens).copy_from(second_.value().rows(begin, end));
    return hidden_.rows(0, 2 * tokens);
  }
  // Where the gradient of gather's result goes: [2C, D]
  Tensor gradient(int64_t tokens) { return grad_hidden_.rows(0, 2 * tokens); }

 private:
  Tensor buffer() const {
    return Tensor::empty({2 * std::min(kChunkTokens, first_.dim(0)), first_.dim(1)}, first_.dtype());
  }
  const Variable& first_;
  const Variable& second_;
  Tensor hidden_;
  Tensor grad_hidden_;
};

}  // namespace

RdropResult rdrop_cross_entropy(const Variable& first, const Variable& second, const Weight& weight,
                                const Variable& bias, const Tensor& targets, const RdropOptions& options) {
  check_inputs(first, second, weight.variable, bias, options);
  check_ids(targets, first.dim(0), weight.variable.dim(0), kOp, "targets");
  const bool learning = autograd::needs_grad({&first, &second, &weight.variable, &bias});
  const auto add =
      first.dtype() == DType::kFloat64 ? add_losses_and_divergence<double> : add_losses_and_divergence<float>;
  const int64_t n_tokens = first.dim(0);
  Tensor grad_first, grad_second;
  if (learning) {
    grad_first = Tensor::empty(first.shape(), first.dtype());   // [N, D]
    grad_second = Tensor::empty(first.shape(), first.dtype());  // [N, D]
  }
  LogitChunks chunks(weight, bias, 2 * n_tokens);
  PairedChunks pairs(first, second);
  RdropResult result;
  for (int64_t begin = 0; begin < n_tokens; begin += kChunkTokens) {
    const int64_t end = std::min(begin + kChunkTokens, n_tokens), tokens = end - begin;
    const Tensor hidden = pairs.gather(begin, end);  // [2C, D]
    Tensor logits = chunks.compute(hidden);          // [2C, V]
    add(targets.data<int32_t>() + begin, options, learning, logits, result);
    if (learning) {
      Tensor grad = pairs.gradient(tokens);  // [2C, D]
      chunks.backward(hidden, logits, &grad);
      grad_first.rows(begin, end).copy_from(grad.rows(0, tokens));
      grad_second.rows(begin, end).copy_from(grad.rows(tokens, 2 * tokens));
    }
  }
  const auto backward = [first, second, grad_first, grad_second](const Tensor& grad_loss) {
    base::check_argument(grad_loss.item() == 1.0, "{}: the gradient of the loss is {}, must be 1; use gradient_scale",
                         kOp, grad_loss.item());
    first.add_grad(grad_first);
    second.add_grad(grad_second);
  };
  const double loss = options.cross_entropy.gradient_scale * (result.smoothed + options.alpha / 2 * result.divergence);
  result.loss = autograd::record(kOp, Tensor::full({}, loss, first.dtype()), {&first, &second, &weight.variable, &bias},
                                 backward);
  return result;
}

}  // namespace dragoman::ops
