#include "training/optimizer.h"

#include "kernels/cpu/simd/vector_math.h"

namespace dragoman::training {

using tensor::Tensor;

Adam::Adam(const AdamOptions& options, int64_t size)
    : options_(options), first_moment_(Tensor::zeros({size})), second_moment_(Tensor::zeros({size})) {}

void Adam::update(std::span<float> weights, std::span<const float> gradients, distributed::Part part,
                  const AdamStep& step) {
  const auto begin = static_cast<size_t>(part.begin), length = static_cast<size_t>(part.end - part.begin);
  kernels::adam_update(weights.subspan(begin, length), gradients.subspan(begin, length),
                       first_moment_.span<float>().subspan(begin, length),
                       second_moment_.span<float>().subspan(begin, length),
                       {step.learning_rate, options_.beta1, options_.beta2, options_.epsilon, options_.weight_decay,
                        step.gradient_scale, step.number});
}

}  // namespace dragoman::training
