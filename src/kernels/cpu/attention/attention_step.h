#pragma once

#include <cstdint>
#include <span>

#include "kernels/types.h"

namespace dragoman::kernels {

/// Locates the keys and values of one query row. The key of position t begins at element
/// (row_of_position ? row_of_position[t] : t) * stride of keys, and its value likewise. The index table lets beams
/// share and reorder a cache without copying it. In int8 the values of a row are followed by n_heads float32, the scale
/// of each head.
struct StepKeys {
  const void* keys = nullptr;
  const void* values = nullptr;
  const int32_t* row_of_position = nullptr;       ///< nullptr = consecutive rows
  int64_t stride = 0;                             ///< elements from one cache row to the next
  int64_t length = 0;                             ///< positions to attend to; 0 gives a row of zeros
  tensor::DType dtype = tensor::DType::kFloat32;  ///< of keys and values: float32, bfloat16 or int8
};

/// Rounds a row to bfloat16, to nearest even.
void round_row(const float* from, int64_t size, tensor::BFloat16* to);

/// Quantizes each head of a row [H*Dh] to int8: to = from / scale, rounded to nearest even. The scale makes the largest
/// magnitude of the head 127; it is 0 if all numbers of the head are 0.
/// @param scales  [H], overwritten
void quantise_heads(const float* from, int n_heads, int64_t d_head, int8_t* to, float* scales);

/// Returns: the number of elements of `dtype` in a cache row of `width` numbers, the scales of int8 included.
constexpr int64_t cached_row_elements(int64_t width, int n_heads, tensor::DType dtype) {
  return dtype == tensor::DType::kInt8 ? width + n_heads * static_cast<int64_t>(sizeof(float)) : width;
}

/// Computes one decoding step of attention. Each row of `query` attends to its own keys:
///   context[r] = Concat_h softmax(q_h K_h^T / sqrt(Dh)) V_h
/// @param query  [R, H*Dh] float32, may be a column view;  @param rows  R entries
/// @param context  [R, H*Dv], overwritten
/// @param mean_weights  nullptr, or [R, L] with L >= the largest length, overwritten with the weights averaged over the
///   heads; zero past the length of a row
/// Neighbouring rows that begin with the same cache row, such as hypotheses of a sentence, read shared rows once.
/// A row has the same bits in any batch. The result equals `attention` up to rounding. There is no gradient.
/// Throws: Error, "attention_step: 3 rows of keys for 4 queries", and for shapes that do not fit n_heads.
/// Source: Vaswani et al. 2017, section 3.2.1.
void attention_step(const Tensor& query, std::span<const StepKeys> rows, int n_heads, Tensor& context,
                    Tensor* mean_weights);

}  // namespace dragoman::kernels
