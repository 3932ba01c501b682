#include "ops/step_attention.h"

#include "base/error.h"
#include "kernels/backends/backend_of.h"

namespace dragoman::ops {

StepAttention::StepAttention(const StepPlan& plan, const AttentiveWeights& weights, const SourceMemory& memory,
                             DType dtype)
    : plan_(plan), weights_(weights), memory_(memory) {
  base::check_argument(static_cast<int64_t>(memory_.rows.size()) == plan_.sentences(),
                       "attentive_layer: sources of {} sentences for {}; must be equal", memory_.rows.size(),
                       plan_.sentences());
  const int64_t rows = plan_.rows().dim(0);
  const int64_t width = is_additive() ? weights_.query.shape()[1] : weights_.cell.state.shape()[0];  // A
  base::check_argument(memory_.rows.empty() || memory_.rows.front().keys.dim(1) == width,
                       "attentive_layer: keys have width {}, queries {}; must be equal",
                       memory_.rows.empty() ? 0 : memory_.rows.front().keys.dim(1), width);
  queries_ = Tensor::empty({is_additive() ? rows : 0, width}, dtype);
  grad_queries_ = Tensor::empty({0, width}, dtype);
  attention_ = Tensor::empty({rows, memory_.longest()}, dtype);
}

void StepAttention::forward(int64_t step, const Tensor& states, Tensor context) {
  if (is_additive()) {
    Tensor queries = plan_.part(queries_, step);
    multiply_weight(states, weights_.query, Transpose::kNo, {}, queries);
  }
  const Tensor queries = query(step, states), score_weight = score();
  Tensor weights = plan_.part(attention_, step);
  kernels::backend_of(context).source_attention(
      {memory_.kind, queries, memory_.rows, plan_.sentences_of(step), score_weight, weights, context});
}

void StepAttention::begin_backward() {
  grad_queries_ = Tensor::empty({attention_.dim(0), grad_queries_.dim(1)}, attention_.dtype());
  gradients_.emplace(memory_, is_additive() ? weights_.score : Variable());
}

void StepAttention::backward(int64_t step, const Tensor& states, const Tensor& grad_context, Tensor grad_states) {
  const Tensor queries = query(step, states), score_weight = score(), weights = plan_.part(attention_, step);
  Tensor grad_queries = plan_.part(grad_queries_, step);
  const kernels::Backend& backend = kernels::backend_of(grad_queries);
  backend.source_attention_backward({memory_.kind, queries, memory_.rows, plan_.sentences_of(step), score_weight,
                                     weights, grad_context, grad_queries, gradients_->rows(), gradients_->score()});
  if (is_additive()) {
    multiply_weight_backward(grad_queries, weights_.query, Transpose::kNo, /*accumulate=*/true, grad_states);
  } else {
    backend.rows_accumulate(grad_queries, grad_states);
  }
}

void StepAttention::finish_backward(const Tensor& states) {
  if (is_additive()) {
    add_weight_grad(states, grad_queries_, weights_.query, Transpose::kNo);
  }
  gradients_->finish();
}

}  // namespace dragoman::ops
