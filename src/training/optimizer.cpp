#include "training/optimizer.h"

#include "kernels/backends/backend_of.h"

namespace dragoman::training {

using tensor::Tensor;

Adam::Adam(const AdamOptions& options, int64_t size)
    : options_(options), first_moment_(Tensor::zeros({size})), second_moment_(Tensor::zeros({size})) {}

kernels::AdamScalars Adam::scalars(double learning_rate, double gradient_scale, int64_t step) const {
  return {learning_rate, options_.beta1, options_.beta2, options_.epsilon, options_.weight_decay, gradient_scale, step};
}

void Adam::update(const Tensor& weights, const Tensor& gradients, distributed::Part part,
                  const kernels::AdamScalars& scalars) {
  const auto part_of = [part](const Tensor& flat) { return flat.rows(part.begin, part.end); };
  Tensor updated = part_of(weights), moment1 = part_of(first_moment_), moment2 = part_of(second_moment_);
  kernels::backend_of(weights).adam_update(updated, part_of(gradients), moment1, moment2, scalars);
}

}  // namespace dragoman::training
