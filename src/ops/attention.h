#pragma once

#include "ops/dropout.h"
#include "ops/types.h"

namespace dragoman::ops {

/// Scaled dot-product attention of each head within each sentence, on packed rows:
///   context = softmax(Q K^T / sqrt(Dh)) V
/// @param query  [Nq, H*Dh] float32, float64 or bfloat16
/// @param key  [Nk, H*Dh];  @param value  [Nk, H*Dv]: of the same type. Head h has the columns h*Dh .. (h+1)*Dh. Column
///   views (row stride larger than the width) are welcome.
/// @return context [Nq, H*Dv] of the same type. A row with nothing to attend to is all zeros with zero gradient, not
///   NaN. A row has the same bits whatever other sentences are in the batch and whatever comes after it (causal).
/// bfloat16 is computed with in float32. With AMX, where Dh and Dv are multiples of 32, weights and the gradients of
/// scores are rounded to bfloat16 before they are multiplied.
/// Dropout: weight of (query row n, head h, key s of the sentence) is element (row n*H + h, column s) of the mask.
/// Saves for backward: two numbers of the softmax of each row and head, 8*Nq*H bytes; the weights are computed again.
/// Gradients: query, key, value.
/// Throws Error: "attention: query has width 64, key has width 32; both must be n_heads * d_head", "attention: causal,
/// but sentence 3 has 5 queries and 4 keys", or offsets that fall or do not end at the number of rows.
/// Source: Vaswani et al. 2017, section 3.2.1, eq. (1). Departs from it: dropout on the weights.
Variable attention(const Variable& query, const Variable& key, const Variable& value, const AttentionBounds& bounds,
                   const AttentionOptions& options);

/// The weights softmax(Q K^T / sqrt(Dh)) of one sentence, for pictures and alignments; dropout is not applied.
/// @param query  [T, H*Dh];  @param key  [S, H*Dh];  @param bounds  of exactly one sentence
/// @return [H, T, S] float32; each row sums to 1, or is all zeros when it has nothing to attend to.
Tensor attention_weights(const Tensor& query, const Tensor& key, const AttentionBounds& bounds,
                         const AttentionOptions& options);

}  // namespace dragoman::ops
