#pragma once

#include "kernels/activation.h"
#include "kernels/dropout.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// The inputs of a gated activation. All are float32 or all bfloat16; the reference takes float64.
struct GatedInputs {
  const Tensor& gate;  ///< [N, F]
  const Tensor& up;    ///< [N, F]
  Activation activation;
  const Dropout& dropout;
};

/// The gradients of the inputs of a gated activation.
struct GatedGradients {
  Tensor& gate;  ///< [N, F], overwritten
  Tensor& up;    ///< [N, F], overwritten
};

}  // namespace dragoman::kernels
