#include "training/optimizer.h"

#include "ops/vector_math.h"

namespace dragoman::training {

using tensor::Tensor;

Adam::Adam(const AdamOptions& options, int64_t size)
    : options_(options), first_moment_(Tensor::zeros({size})), second_moment_(Tensor::zeros({size})) {}

}  // namespace dragoman::training
