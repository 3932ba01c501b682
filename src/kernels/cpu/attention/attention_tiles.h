#pragma once

#include "kernels/attention.h"
#include "kernels/product_kernel.h"

namespace dragoman::kernels {

/// Whether attention multiplies in the tile registers of AMX: where there are any, for bfloat16 rows whose heads are
/// whole tiles wide.
bool attends_in_tiles(const AttentionInputs& inputs);

/// attention_forward and attention_backward for inputs that attends_in_tiles is true of. Weights and the gradients of
/// scores are rounded to bfloat16 before they are multiplied. A row has the same bits whatever is beside it.
/// @param kernel  kBFloat16Amx or kBFloat16EmulatedAmx, which yield the same bits
void attention_forward_in_tiles(ProductKernel kernel, const AttentionInputs& inputs, Tensor& context, Tensor& stats);
void attention_backward_in_tiles(ProductKernel kernel, const AttentionInputs& inputs, Tensor stats,
                                 const Tensor& grad_context, AttentionGradients& gradients);

}  // namespace dragoman::kernels
