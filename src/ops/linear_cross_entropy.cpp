#include "ops/linear_cross_entropy.h"

#include <algorithm>

#include "base/error.h"
#include "ops/check_ids.h"
#include "ops/cross_entropy_cpu.h"
#include "ops/embedding_cpu.h"
#include "ops/gemm.h"
#include "ops/reference/cross_entropy.h"
#include "ops/reference/embedding.h"

namespace dragoman::ops {
namespace {

// One name for both dtypes: the float32 kernel and the float64 reference.
using ops::cross_entropy_row;
using ops::cross_entropy_row_gradient;
using ops::scaled_row_accumulate;
using reference::cross_entropy_row;
using reference::cross_entropy_row_gradient;
using reference::scaled_row_accumulate;
using tensor::DType;

// Tokens whose logits exist at the same time. Fewer would read and write the gradient of a large weight more often
// than its products take, more would push the logits out of the cache.
constexpr int64_t kChunkTokens = 256;

void check_inputs(const Variable& hidden, const Variable& weight, const Variable& bias) {
  constexpr const char* kOp = "linear_cross_entropy";
  check_float(hidden.value(), kOp, "hidden");
  tensor::check_matrix(hidden.value(), hidden.dtype(), kOp, "hidden");
  tensor::check_matrix(weight.value(), hidden.dtype(), kOp, "weight");
  base::check_argument(hidden.dim(1) == weight.dim(1),
                       "{}: hidden has width {}, weight [V, D] has width {}; must be equal", kOp, hidden.dim(1),
                       weight.dim(1));
  if (bias.defined()) {
    base::check_argument(bias.dtype() == hidden.dtype(), "{}: bias is {}, must be {}", kOp,
                         tensor::dtype_name(bias.dtype()), tensor::dtype_name(hidden.dtype()));
    tensor::check_shape(bias.value(), {weight.dim(0)}, kOp, "bias");
  }
}

// One call of linear_cross_entropy: the sums so far and where the gradients go.
template <typename T>
class Pass {
 public:
  Pass(const Variable& hidden, const Variable& weight, const Variable& bias, const LossOptions& options)
      : hidden_(hidden), weight_(weight), bias_(bias), options_(options) {
    learning_ = autograd::needs_grad({&hidden, &weight, &bias});
    if (learning_ && hidden.requires_grad()) {
      grad_hidden_ = Tensor::empty(hidden.shape(), hidden.dtype());  // [N, D]
    }
    logits_ = Tensor::empty({std::min(kChunkTokens, hidden.dim(0)), weight.dim(0)}, hidden.dtype());
  }

  void run(const Tensor& targets) {
    for (int64_t begin = 0; begin < hidden_.dim(0); begin += kChunkTokens) {
      const int64_t end = std::min(begin + kChunkTokens, hidden_.dim(0));
      const Tensor hidden = hidden_.value().rows(begin, end);  // [C, D]
      Tensor logits = logits_.rows(0, end - begin);            // [C, V]
      compute_logits(hidden, logits);
      add_losses(targets.data<int32_t>() + begin, logits);
      if (learning_) {
        add_gradients(begin, hidden, logits);
      }
    }
  }

  double smoothed() const { return smoothed_; }
  double nll() const { return nll_; }
  int64_t correct() const { return correct_; }
  const Tensor& grad_hidden() const { return grad_hidden_; }

 private:
  void compute_logits(const Tensor& hidden, Tensor& logits) const {
    gemm(hidden, Transpose::kNo, weight_.value(), Transpose::kYes, logits);
    for (int64_t n = 0; bias_.defined() && n < logits.dim(0); ++n) {
      scaled_row_accumulate(bias_.value().template data<T>(), T{1}, logits.dim(1), row(logits, n));
    }
  }

  // When learning, the logits are replaced by their gradient.
  void add_losses(const int32_t* targets, Tensor& logits) {
    for (int64_t n = 0; n < logits.dim(0); ++n) {
      const RowLoss loss = cross_entropy_row(row(logits, n), logits.dim(1), targets[n], options_.label_smoothing);
      smoothed_ += loss.smoothed;
      nll_ += loss.nll;
      correct_ += loss.correct ? 1 : 0;
      if (learning_) {
        const RowGradient gradient{targets[n], options_.label_smoothing, loss.log_sum_exp, options_.gradient_scale};
        cross_entropy_row_gradient(row(logits, n), logits.dim(1), gradient, row(logits, n));
      }
    }
  }

  // Of compute_logits.
  void add_gradients(int64_t begin, const Tensor& hidden, const Tensor& grad_logits) {
    if (hidden_.requires_grad()) {
      Tensor grad = grad_hidden_.rows(begin, begin + hidden.dim(0));
      gemm(grad_logits, Transpose::kNo, weight_.value(), Transpose::kNo, grad);
    }
    if (weight_.requires_grad()) {
      auto [grad, accumulate] = weight_.grad_target();
      (accumulate ? gemm_accumulate : gemm)(grad_logits, Transpose::kYes, hidden, Transpose::kNo, grad);
    }
    if (bias_.requires_grad()) {
      add_bias_gradient(grad_logits);
    }
  }

  void add_bias_gradient(const Tensor& grad_logits) const {
    auto [grad, accumulate] = bias_.grad_target();
    if (!accumulate) {
      grad.zero();
    }
    for (int64_t n = 0; n < grad_logits.dim(0); ++n) {
      scaled_row_accumulate(grad_logits.data<T>() + n * grad_logits.stride(0), T{1}, grad_logits.dim(1),
                            grad.template data<T>());
    }
  }

  static T* row(Tensor& logits, int64_t n) { return logits.data<T>() + n * logits.stride(0); }

  const Variable& hidden_;
  const Variable& weight_;
  const Variable& bias_;
  const LossOptions& options_;
  bool learning_ = false;
  Tensor grad_hidden_;
  Tensor logits_;
  double smoothed_ = 0;
  double nll_ = 0;
  int64_t correct_ = 0;
};

template <typename T>
LossResult run(const Variable& hidden, const Variable& weight, const Variable& bias, const Tensor& targets,
               const LossOptions& options) {
  Pass<T> pass(hidden, weight, bias, options);
  pass.run(targets);
  const auto backward = [hidden, grad_hidden = pass.grad_hidden()](const Tensor& grad_loss) {
    base::check_argument(grad_loss.item() == 1.0,
                         "linear_cross_entropy: the gradient of the loss is {}, must be 1; use gradient_scale",
                         grad_loss.item());
    if (grad_hidden.defined()) {
      hidden.add_grad(grad_hidden);
    }
  };
  Tensor loss = Tensor::full({}, options.gradient_scale * pass.smoothed(), hidden.dtype());
  return {autograd::record("linear_cross_entropy", std::move(loss), {&hidden, &weight, &bias}, backward), pass.nll(),
          pass.correct()};
}

}  // namespace

LossResult linear_cross_entropy(const Variable& hidden, const Variable& weight, const Variable& bias,
                                const Tensor& targets, const LossOptions& options) {
  check_inputs(hidden, weight, bias);
  check_ids(targets, hidden.dim(0), weight.dim(0), "linear_cross_entropy", "targets");
  check_loss_options(options, "linear_cross_entropy");
  return hidden.dtype() == DType::kFloat64 ? run<double>(hidden, weight, bias, targets, options)
                                           : run<float>(hidden, weight, bias, targets, options);
}

}  // namespace dragoman::ops
