#pragma once

#include <cstdint>
#include <span>

#include "kernels/cached_attention.h"

namespace dragoman::kernels {

/// Copies keys [S, H*Dh] and values [S, H*Dv], float32, into SharedKeys. Rows may be strided.
/// @param dtype  of the copy: float32; bfloat16, rounded to nearest even, with half the memory; or int8, with a quarter
///   of the memory, where the scale of each head of a key or value makes its largest magnitude 127
/// Throws: Error, "pack_shared_keys: values is [3, 8], must be [4, 8]", or a width that n_heads does not divide.
[[nodiscard]] SharedKeys pack_shared_keys(const Tensor& keys, const Tensor& values, int n_heads,
                                          tensor::DType dtype = tensor::DType::kFloat32);

/// Computes attention of each row of `query` to all keys of its group:
///   context[r] = Concat_h softmax(q_h K_h^T / sqrt(Dh)) V_h
/// The rows of a group are the hypotheses of a sentence. They are computed together, so that keys and values are read
/// once.
/// @param query  [R, H*Dh] float32, rows may be strided;  @param groups  R rows in all
/// @param context  [R, H*Dv], overwritten; zeros for a group without keys
/// @param mean_weights  nullptr, or [R, L] with L >= the largest S, overwritten with the weights averaged over the
/// heads;
///   zero past the keys of a row
/// A row has the same bits in any batch. The result equals `attention` up to rounding. There is no gradient.
/// Throws: Error, "attention_shared: groups of 3 rows for 4 queries", or widths that do not fit the keys.
/// Source: Vaswani et al. 2017, section 3.2.1.
void attention_shared(const Tensor& query, std::span<const SharedRows> groups, int n_heads, Tensor& context,
                      Tensor* mean_weights = nullptr);

}  // namespace dragoman::kernels
