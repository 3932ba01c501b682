#include "models/output_layer.h"

#include "ops/linear.h"

namespace dragoman::models {

Variable OutputLayer::logits(const Variable& hidden) const {
  return ops::linear(hidden, weight, bias, kernels::Transpose::kYes);  // [N, V]
}

void OutputLayer::best(const Variable& hidden, int k, kernels::BestLogits& best) const {
  ops::best_of_product(hidden.value(), weight, bias.defined() ? bias.value() : tensor::Tensor(), k, best);
}

}  // namespace dragoman::models
