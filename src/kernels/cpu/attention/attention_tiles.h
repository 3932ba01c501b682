#pragma once

#include "kernels/attention.h"
#include "kernels/product_kernel.h"

namespace dragoman::kernels {

/// Returns: whether attention multiplies in the tile registers of AMX. It does for bfloat16 rows whose heads are whole
/// tiles wide, if the processor has AMX.
bool attends_in_tiles(const AttentionInputs& inputs);

/// Computes attention_forward and attention_backward in tiles. Weights and the gradients of scores are rounded to
/// bfloat16 before they are multiplied. A row has the same bits in any batch.
/// Requires: attends_in_tiles(inputs).
/// @param kernel  kBFloat16Amx or kBFloat16EmulatedAmx, which yield the same bits
void attention_forward_in_tiles(ProductKernel kernel, const AttentionInputs& inputs, Tensor& context, Tensor& stats);
void attention_backward_in_tiles(ProductKernel kernel, const AttentionInputs& inputs, Tensor stats,
                                 const Tensor& grad_context, AttentionGradients& gradients);

}  // namespace dragoman::kernels
