#pragma once

#include "autograd/variable.h"
#include "kernels/activation.h"
#include "kernels/attention.h"
#include "kernels/cross_entropy.h"
#include "kernels/precision.h"
#include "kernels/transpose.h"
#include "kernels/types.h"

namespace dragoman::ops {

using autograd::Variable;
using kernels::Activation;
using kernels::AttentionBounds;
using kernels::AttentionOptions;
using kernels::Dropout;
using kernels::LossOptions;
using kernels::Precision;
using kernels::Transpose;
using tensor::DType;
using tensor::Tensor;

}  // namespace dragoman::ops
