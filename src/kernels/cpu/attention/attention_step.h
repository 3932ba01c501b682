#pragma once

#include <cstdint>
#include <span>

#include "kernels/cached_attention.h"

namespace dragoman::kernels {

/// Rounds a row to bfloat16, to nearest even.
void round_row(const float* from, int64_t size, tensor::BFloat16* to);

/// Quantizes each head of a row [H*Dh] to int8: to = from / scale, rounded to nearest even. The scale makes the largest
/// magnitude of the head 127; it is 0 if all numbers of the head are 0.
/// @param scales  [H], overwritten
void quantise_heads(const float* from, int n_heads, int64_t d_head, int8_t* to, float* scales);

/// Computes one decoding step of attention. Each row of `query` attends to its own keys:
///   context[r] = Concat_h softmax(q_h K_h^T / sqrt(Dh)) V_h
/// @param query  [R, H*Dh] float32, may be a column view;  @param rows  R entries
/// @param context  [R, H*Dv], overwritten
/// @param mean_weights  nullptr, or [R, L] with L >= the largest length, overwritten with the weights averaged over the
///   heads; zero past the length of a row
/// Keys and values of StepKeys::n_kv_heads heads serve neighbouring heads of the query.
/// Neighbouring rows that begin with the same cache row, such as hypotheses of a sentence, read shared rows once.
/// A row has the same bits in any batch. The result equals `attention` up to rounding. There is no gradient.
/// Throws: Error, "attention_step: 3 rows of keys for 4 queries", and for shapes that do not fit n_heads.
/// Source: Vaswani et al. 2017, section 3.2.1.
void attention_step(const Tensor& query, std::span<const StepKeys> rows, int n_heads, Tensor& context,
                    Tensor* mean_weights);

}  // namespace dragoman::kernels
