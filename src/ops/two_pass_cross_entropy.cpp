#include "ops/two_pass_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"
#include "kernels/cpu/output/two_pass_cross_entropy_cpu.h"
#include "ops/logit_chunks.h"
#include "ops/logit_parts.h"

namespace dragoman::ops {
namespace {

using kernels::TwoPassLosses;

constexpr const char* kOp = "two_pass_cross_entropy";

void check_inputs(const Variable& first, const Variable& second, const Variable& weight, const Variable& bias,
                  const TwoPassOptions& options) {
  LogitChunks::check(first.value(), weight, bias, kOp);
  tensor::check_shape(second.value(), first.shape(), kOp, "second");
  tensor::check_matrix(second.value(), first.dtype(), kOp, "second");
  kernels::check_loss_options(options.cross_entropy, kOp);
  base::check_argument(options.alpha >= 0 && std::isfinite(options.alpha), "{}: alpha is {}, must be >= 0 and finite",
                       kOp, options.alpha);
}

// What the loss of a call is computed from.
struct TwoPassInputs {
  const Tensor& first;    // [N, D]
  const Tensor& second;   // [N, D]
  const Tensor& targets;  // [N] int32
  const Weight& weight;
  const Variable& bias;
  const TwoPassOptions& options;

  int64_t n_tokens() const { return first.dim(0); }
  int64_t n_classes() const { return weight.shape()[0]; }
};

// The gradients of both passes, undefined unless learning.
struct TwoPassGradients {
  Tensor first, second;  // [N, D]
  bool learning() const { return first.defined(); }
};

// Adds the losses of a token, all of whose logits are in `sums`.
kernels::TwoPassRow add_token(const kernels::TwoPassSums& sums, const TwoPassInputs& inputs, TwoPassLosses& losses) {
  const float smoothing = inputs.options.cross_entropy.label_smoothing;
  const kernels::RowLoss loss_p = kernels::loss_of_row_sums(sums.p, inputs.n_classes(), smoothing);
  const kernels::RowLoss loss_q = kernels::loss_of_row_sums(sums.q, inputs.n_classes(), smoothing);
  const kernels::TwoPassRow row = kernels::two_pass_row_of_sums(sums, loss_p, loss_q);
  losses.add(row, loss_p, loss_q, inputs.options.weights());
  return row;
}

// Rows of both passes in one matrix: blocks of some tokens, or those left, of the first pass, each with the same tokens
// of the second below. One product for both is faster than two of half the rows, above all that for the gradient
// of weight.
class PairedRows {
 public:
  // @param tokens  most that are gathered at a time;  @param block  tokens of a block
  PairedRows(const Tensor& first, const Tensor& second, int64_t tokens, int64_t block)
      : first_(first),
        second_(second),
        block_(block),
        rows_(Tensor::empty({2 * std::min(tokens, first.dim(0)), first.dim(1)}, first.dtype())) {}

  // Tokens [begin, end): [2C, D]
  Tensor gather(int64_t begin, int64_t end) {
    for_each_block(begin, end, [&](int64_t token, int64_t count, int64_t row) {
      rows_.rows(row, row + count).copy_from(first_.rows(token, token + count));
      rows_.rows(row + count, row + 2 * count).copy_from(second_.rows(token, token + count));
    });
    return rows_.rows(0, 2 * (end - begin));
  }
  // The way back.  @param grad  [2C, D]
  void scatter(const Tensor& grad, int64_t begin, int64_t end, const TwoPassGradients& to) const {
    for_each_block(begin, end, [&](int64_t token, int64_t count, int64_t row) {
      to.first.rows(token, token + count).copy_from(grad.rows(row, row + count));
      to.second.rows(token, token + count).copy_from(grad.rows(row + count, row + 2 * count));
    });
  }

 private:
  template <class Block>
  void for_each_block(int64_t begin, int64_t end, const Block& block) const {
    for (int64_t token = begin; token < end; token += block_) {
      block(token, std::min(block_, end - token), 2 * (token - begin));
    }
  }

  const Tensor& first_;
  const Tensor& second_;
  int64_t block_;
  Tensor rows_;
};

// Calls visit(token of the block, its logits in the first pass, those in the second) for a block, or some columns of
// it.
template <class Visit>
void for_each_pair(Tensor& block, const Visit& visit) {
  const int64_t pairs = block.dim(0) / 2;
  for (int64_t n = 0; n < pairs; ++n) {
    visit(n, block.data<float>() + n * block.stride(0), block.data<float>() + (pairs + n) * block.stride(0));
  }
}

// A block of tokens after the other, all logits of each at once; they are replaced by their gradient.
void losses_in_chunks(const TwoPassInputs& inputs, const TwoPassGradients& gradients, TwoPassLosses& losses) {
  const kernels::Backend& backend = kernels::backend_of(inputs.first);
  const int64_t block = LogitChunks::rows_at_once(inputs.first) / 2;  // tokens
  LogitChunks chunks(inputs.weight, inputs.bias, std::min(2 * block, 2 * inputs.n_tokens()), false);
  PairedRows pairs(inputs.first, inputs.second, block, block);
  for (int64_t begin = 0; begin < inputs.n_tokens(); begin += block) {
    const int64_t end = std::min(begin + block, inputs.n_tokens());
    const Tensor hidden = pairs.gather(begin, end);          // [2C, D]
    Tensor logits = chunks.compute(hidden);                  // [2C, V]
    const Tensor targets = inputs.targets.rows(begin, end);  // [C]
    backend.two_pass_cross_entropy({logits, targets, inputs.options, gradients.learning()}, losses);
    if (gradients.learning()) {
      Tensor grad = Tensor::empty(hidden.shape(), hidden.dtype());  // [2C, D]
      chunks.backward(hidden, logits, &grad);
      pairs.scatter(grad, begin, end, gradients);
    }
  }
}

// The sums of C tokens, whose logits exist in parts only.
std::vector<kernels::TwoPassSums> sums_of_parts(const LogitParts& logits, const Tensor& hidden,
                                                const int32_t* targets) {
  std::vector<kernels::TwoPassSums> sums(static_cast<size_t>(hidden.dim(0) / 2));
  logits.compute(hidden, [&](int64_t row, int64_t column, Tensor& part) {
    for_each_pair(part, [&](int64_t n, const float* logits_p, const float* logits_q) {
      const int64_t token = row / 2 + n;
      kernels::add_to_two_pass_sums(logits_p, logits_q, part.dim(1), targets[token] - column,
                                    sums[static_cast<size_t>(token)]);
    });
  });
  return sums;
}

// Some blocks of tokens after the others, their logits in parts: once for the sums over the classes, and once more for
// the gradients.
void losses_in_parts(const TwoPassInputs& inputs, const TwoPassGradients& gradients, TwoPassLosses& losses) {
  constexpr int64_t kTokens = LogitParts::kTokens / 2;
  const LogitParts logits(inputs.weight, inputs.bias);
  PairedRows pairs(inputs.first, inputs.second, kTokens, LogitParts::kRows / 2);
  for (int64_t begin = 0; begin < inputs.n_tokens(); begin += kTokens) {
    const int64_t end = std::min(begin + kTokens, inputs.n_tokens());
    const Tensor hidden = pairs.gather(begin, end);  // [2C, D] bfloat16
    const int32_t* targets = inputs.targets.data<int32_t>() + begin;
    std::vector<kernels::TwoPassRow> rows;
    for (const kernels::TwoPassSums& sums : sums_of_parts(logits, hidden, targets)) {
      rows.push_back(add_token(sums, inputs, losses));
    }
    if (!gradients.learning()) {
      continue;
    }
    Tensor grad = Tensor::empty(hidden.shape());  // [2C, D]
    LogitParts::Backward backward(logits, hidden, &grad);
    logits.compute(hidden, [&](int64_t row, int64_t column, Tensor& part) {
      for_each_pair(part, [&](int64_t n, float* logits_p, float* logits_q) {
        const int64_t token = row / 2 + n;
        kernels::two_pass_row_gradient(rows[static_cast<size_t>(token)],
                                       inputs.options.row_gradient(targets[token] - column, inputs.n_classes()),
                                       part.dim(1), logits_p, logits_q);
      });
      backward.add(row, column, part);
    });
    pairs.scatter(grad, begin, end, gradients);
  }
}

// What products in bfloat16 take for a pass.
Tensor rounded(const Variable& pass) {
  return pass.rounded().defined() ? pass.rounded() : pass.value().to(DType::kBFloat16);
}

}  // namespace

TwoPassResult two_pass_cross_entropy(const Variable& first, const Variable& second, const Weight& weight,
                                     const Variable& bias, const Tensor& targets, const TwoPassOptions& options) {
  check_inputs(first, second, weight.variable, bias, options);
  kernels::check_ids(targets, first.dim(0), weight.variable.dim(0), kOp, "targets");
  const bool learning = autograd::needs_grad({&first, &second, &weight.variable, &bias});
  TwoPassGradients gradients;
  if (learning) {
    gradients = {Tensor::empty(first.shape(), first.dtype()), Tensor::empty(second.shape(), second.dtype())};
  }
  const bool in_parts = LogitParts::pays(weight, learning);
  const Tensor rows_p = in_parts ? rounded(first) : first.value();    // [N, D]
  const Tensor rows_q = in_parts ? rounded(second) : second.value();  // [N, D]
  TwoPassLosses losses;
  (in_parts ? losses_in_parts : losses_in_chunks)({rows_p, rows_q, targets, weight, bias, options}, gradients, losses);
  const auto backward = [first, second, gradients](const Tensor& grad_loss) {
    base::check_argument(grad_loss.item() == 1.0, "{}: the gradient of the loss is {}, must be 1; use gradient_scale",
                         kOp, grad_loss.item());
    first.add_grad(gradients.first);
    second.add_grad(gradients.second);
  };
  const double loss =
      options.cross_entropy.gradient_scale * (losses.smoothed + options.divergence_weight() * losses.divergence);
  const double scale = options.cross_entropy.gradient_scale;
  const double weights[] = {scale, 0.0, scale * options.divergence_weight(), 0.0};
  TwoPassResult result{losses, {}};
  result.loss = autograd::record(kOp, loss_value(losses.pending, weights, loss, first.dtype()),
                                 {&first, &second, &weight.variable, &bias}, backward);
  result.loss.take_gradient_on_host();
  return result;
}

}  // namespace dragoman::ops
