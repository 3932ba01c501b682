#pragma once

#include "ops/dropout.h"
#include "ops/relative_positions.h"
#include "ops/types.h"

namespace dragoman::ops {

/// Computes scaled dot-product attention of each head within each sentence, on ragged rows:
///   context = softmax(Q K^T / sqrt(Dh) + B) V
/// @param query  [Nq, H*Dh] float32, float64 or bfloat16
/// @param key  [Nk, Hkv*Dh];  @param value  [Nk, Hkv*Dv], both of the type of query. Head h has the columns h*Dh ..
///   (h+1)*Dh. All three may be column views, with a row stride larger than the width. Hkv is H, or less if heads of
///   query share those of key and value (AttentionOptions).
/// @return context [Nq, H*Dv] of the type of query. A row with nothing to attend to is all zeros with zero gradient.
///   The bits of a row do not depend on other sentences, nor, if causal, on later rows.
/// bfloat16 is computed in float32. With AMX, if Dh and Dv are multiples of 32, weights and the gradients of scores are
/// rounded to bfloat16 before they are multiplied.
/// @param bias  B: by the distance of query and key, for each head; none = zero. Both sides of the query have buckets
///   of their own unless attention is causal.
/// A window saves time in the softmax alone: products are those of all keys.
/// Dropout: the weight of (query row n, head h, key s of the sentence) is element (row n*H + h, column s) of the mask.
/// Saves for backward: two numbers of the softmax of each row and head, 8*Nq*H bytes. The weights are computed again.
/// Gradients: query, key, value, the weight of the bias.
/// Throws: Error, "attention: query has width 64, key has width 32; both must be n_heads * d_head", "attention: causal,
/// but sentence 3 has 5 queries and 4 keys; must be equal", "attention: n_kv_heads is 3, must divide n_heads, 4", and
/// for offsets that fall or do not end at the number of rows. Source: Vaswani et al. 2017, section 3.2.1, eq. (1),
/// without dropout on the weights and without a bias; Raffel et al. 2020, section 2.1 (the bias).
Variable attention(const Variable& query, const Variable& key, const Variable& value, const AttentionBounds& bounds,
                   const AttentionOptions& options, const RelativeBias& bias = {});

/// Computes the weights softmax(Q K^T / sqrt(Dh) + B) of one sentence, for pictures and alignments. Dropout is not
/// applied.
/// @param query  [T, H*Dh];  @param key  [S, Hkv*Dh];  @param bounds  of exactly one sentence
/// @return [H, T, S] float32; each row sums to 1, or is all zeros if it has nothing to attend to.
Tensor attention_weights(const Tensor& query, const Tensor& key, const AttentionBounds& bounds,
                         const AttentionOptions& options, const RelativeBias& bias = {});

}  // namespace dragoman::ops
