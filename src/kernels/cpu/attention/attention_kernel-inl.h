// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_ATTENTION_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_ATTENTION_KERNEL_INL_H_
#undef DRAGOMAN_KERNELS_ATTENTION_KERNEL_INL_H_
#else
#define DRAGOMAN_KERNELS_ATTENTION_KERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "kernels/cpu/attention/attention_softmax-inl.h"
#include "kernels/cpu/gemm/small_gemm-inl.h"
#include "kernels/cpu/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// to [S, W] = K Q^T or V dContext^T: rows of `left` times the transposed columns `right` [width of left, W]
HWY_INLINE void keys_times_queries(const HeadProblem& p, const QueryBlock& block, MatrixView<const float> left,
                                   int64_t width, const float* right, float* to) {
  small_gemm({.m = block.n_keys,
              .n = block.width,
              .k = width,
              .a = left.data,
              .a_row = left.stride,
              .b = right,
              .b_row = block.width,
              .c = to,
              .c_row = block.width,
              .triangle = p.causal ? Triangle::kUpperC : Triangle::kNone,
              .diagonal = -block.begin});
}

// scratch.weights = softmax(Q K^T / sqrt(Dh))^T
HWY_INLINE void weight_block(const HeadProblem& p, const HeadRows<const float>& in, const HeadScratch& scratch,
                             const QueryBlock& block) {
  transpose(in.query.row(block.begin), in.query.stride, block.rows(), p.d_head, scratch.queries, block.width);
  keys_times_queries(p, block, in.key, p.d_head, scratch.queries, scratch.weights);
  softmax_block(p, scratch, block);
}

void head_forward(const HeadProblem& p, const HeadRows<const float>& in, const HeadScratch& scratch,
                  MatrixView<float> context) {
  for (int64_t begin = 0; begin < p.n_queries; begin += kQueryBlock) {
    const QueryBlock block = query_block(p, begin);
    weight_block(p, in, scratch, block);
    drop_weights(p, scratch, block);
    small_gemm({.m = block.rows(),
                .n = p.d_value,
                .k = block.n_keys,
                .a = scratch.weights,
                .a_row = 1,
                .a_column = block.width,
                .b = in.value.data,
                .b_row = in.value.stride,
                .c = context.row(begin),
                .c_row = context.stride,
                .triangle = p.causal ? Triangle::kLowerA : Triangle::kNone,
                .diagonal = begin});
  }
}

// weights [T, S]
void head_weights(const HeadProblem& p, const HeadRows<const float>& in, const HeadScratch& scratch, float* weights) {
  for (int64_t begin = 0; begin < p.n_queries; begin += kQueryBlock) {
    const QueryBlock block = query_block(p, begin);
    weight_block(p, in, scratch, block);
    for (int64_t t = begin; t < block.end; ++t) {
      for (int64_t s = 0; s < p.n_keys; ++s) {
        weights[t * p.n_keys + s] = s < block.n_keys ? scratch.weights[s * block.width + t - begin] : 0.0F;
      }
    }
  }
}

// Of weight_block and drop_weights: fills scratch.weights with the dropped weights and scratch.grad_weights with the
// gradient of the scores.
HWY_INLINE void weight_block_backward(const HeadProblem& p, const HeadRows<const float>& in, const HeadScratch& scratch,
                                      const QueryBlock& block, MatrixView<const float> grad_context) {
  transpose(in.query.row(block.begin), in.query.stride, block.rows(), p.d_head, scratch.queries, block.width);
  keys_times_queries(p, block, in.key, p.d_head, scratch.queries, scratch.weights);
  transpose(grad_context.row(block.begin), grad_context.stride, block.rows(), p.d_value, scratch.grad_context,
            block.width);
  keys_times_queries(p, block, in.value, p.d_value, scratch.grad_context, scratch.grad_weights);
  softmax_block_backward(p, scratch, block);
}

// to [S, width of right] (+)= left [S, W] right [T, ...]: gradients of keys and values
HWY_INLINE void add_key_gradient(const HeadProblem& p, const QueryBlock& block, const float* left,
                                 MatrixView<const float> right, int64_t width, MatrixView<float> to) {
  small_gemm({.m = block.n_keys,
              .n = width,
              .k = block.rows(),
              .a = left,
              .a_row = block.width,
              .b = right.row(block.begin),
              .b_row = right.stride,
              .c = to.data,
              .c_row = to.stride,
              .accumulate = block.begin > 0 || !p.is_first_of_group(),
              .triangle = p.causal ? Triangle::kUpperA : Triangle::kNone,
              .diagonal = -block.begin});
}

HWY_INLINE void clear_rows(MatrixView<float> matrix, int64_t begin, int64_t end, int64_t width) {
  for (int64_t row = begin; row < end; ++row) {
    std::fill_n(matrix.row(row), width, 0.0F);
  }
}

// Overwrites the gradients of all rows of the head; adds to those of keys and values after the first head of a group.
void head_backward(const HeadProblem& p, const HeadRows<const float>& in, const HeadScratch& scratch,
                   MatrixView<const float> grad_context, const HeadRows<float>& gradients) {
  const int64_t first_block = p.visible(std::min(kQueryBlock, p.n_queries));  // keys that it overwrites
  const int64_t untouched = p.n_queries > 0 ? first_block : 0;
  if (p.is_first_of_group()) {
    clear_rows(gradients.key, untouched, p.n_keys, p.d_head);
    clear_rows(gradients.value, untouched, p.n_keys, p.d_value);
  }
  for (int64_t begin = 0; begin < p.n_queries; begin += kQueryBlock) {
    const QueryBlock block = query_block(p, begin);
    weight_block_backward(p, in, scratch, block, grad_context);
    // context = weights V:  dV += weights^T dContext;   scores = Q K^T:  dK += dScores^T Q,  dQ = dScores K
    add_key_gradient(p, block, scratch.weights, grad_context, p.d_value, gradients.value);
    add_key_gradient(p, block, scratch.grad_weights, in.query, p.d_head, gradients.key);
    small_gemm({.m = block.rows(),
                .n = p.d_head,
                .k = block.n_keys,
                .a = scratch.grad_weights,
                .a_row = 1,
                .a_column = block.width,
                .b = in.key.data,
                .b_row = in.key.stride,
                .c = gradients.query.row(begin),
                .c_row = gradients.query.stride,
                .triangle = p.causal ? Triangle::kLowerA : Triangle::kNone,
                .diagonal = begin});
  }
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
