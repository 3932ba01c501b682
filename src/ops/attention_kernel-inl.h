// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_OPS_ATTENTION_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_OPS_ATTENTION_KERNEL_INL_H_
#undef DRAGOMAN_OPS_ATTENTION_KERNEL_INL_H_
#else
#define DRAGOMAN_OPS_ATTENTION_KERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/attention_head.h"
#include "ops/exp-inl.h"
#include "ops/small_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
constexpr auto kFloatLanes = static_cast<int64_t>(hn::MaxLanes(FloatTag()));

// to[c * to_stride + r] = from[r][c]; columns of `to` from n_rows up to to_stride become 0.
HWY_INLINE void transpose(MatrixView<const float> from, int64_t n_rows, int64_t n_columns, float* to,
                          int64_t to_stride) {
  const hn::FixedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> dw;
  int64_t r = 0;
  for (; r + 4 <= n_rows; r += 4) {
    int64_t c = 0;
    for (; c + 4 <= n_columns; c += 4) {
      const auto row0 = hn::LoadU(d, from.row(r) + c), row1 = hn::LoadU(d, from.row(r + 1) + c);
      const auto row2 = hn::LoadU(d, from.row(r + 2) + c), row3 = hn::LoadU(d, from.row(r + 3) + c);
      const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, row0, row1));
      const auto low23 = hn::BitCast(dw, hn::InterleaveLower(d, row2, row3));
      const auto high01 = hn::BitCast(dw, hn::InterleaveUpper(d, row0, row1));
      const auto high23 = hn::BitCast(dw, hn::InterleaveUpper(d, row2, row3));
      float* target = to + c * to_stride + r;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, low01, low23)), d, target);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23)), d, target + to_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, high01, high23)), d, target + 2 * to_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23)), d, target + 3 * to_stride);
    }
    for (; c < n_columns; ++c) {
      for (int64_t i = r; i < r + 4; ++i) {
        to[c * to_stride + i] = from.row(i)[c];
      }
    }
  }
  for (int64_t c = 0; c < n_columns; ++c) {
    for (int64_t i = r; i < n_rows; ++i) {
      to[c * to_stride + i] = from.row(i)[c];
    }
    std::fill(to + c * to_stride + n_rows, to + (c + 1) * to_stride, 0.0F);
  }
}

// Vector s .. of scaled and masked scores; -infinity from `visible` on.
HWY_INLINE hn::Vec<FloatTag> masked_scores(const float* scores, int64_t s, int64_t visible, float scale,
                                           const float* mask_bias) {
  const FloatTag d;
  auto x = hn::Mul(hn::LoadU(d, scores + s), hn::Set(d, scale));
  if (mask_bias != nullptr) {
    x = hn::Add(x, hn::LoadU(d, mask_bias + s));
  }
  const auto seen = hn::FirstN(d, static_cast<size_t>(std::min(visible - s, kFloatLanes)));
  return hn::IfThenElse(seen, x, hn::Set(d, -std::numeric_limits<float>::infinity()));
}

// Turns scores [0, visible) into weights, in place; the rest of the last vector becomes 0. Returns log sum exp.
HWY_INLINE float softmax_row(float* row, int64_t visible, float scale, const float* mask_bias) {
  const FloatTag d;
  auto largest = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int64_t s = 0; s < visible; s += kFloatLanes) {
    largest = hn::Max(largest, masked_scores(row, s, visible, scale, mask_bias));
  }
  const float shift = hn::GetLane(hn::MaxOfLanes(d, largest));
  auto sums = hn::Zero(d);
  for (int64_t s = 0; s < visible; s += kFloatLanes) {
    const auto x = masked_scores(row, s, visible, scale, mask_bias);
    const auto power = vector_exp(d, hn::Sub(x, hn::Set(d, shift)));
    sums = hn::Add(sums, power);
    hn::StoreU(power, d, row + s);
  }
  const float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  const auto inverse = hn::Set(d, 1.0F / sum);
  for (int64_t s = 0; s < visible; s += kFloatLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + s), inverse), d, row + s);
  }
  return shift + std::log(sum);
}

// The same weights from the log-sum-exp that softmax_row returned.
HWY_INLINE void recompute_weights_row(float* row, int64_t visible, float scale, const float* mask_bias,
                                      float log_sum_exp) {
  const FloatTag d;
  for (int64_t s = 0; s < visible; s += kFloatLanes) {
    const auto x = masked_scores(row, s, visible, scale, mask_bias);
    hn::StoreU(vector_exp(d, hn::Sub(x, hn::Set(d, log_sum_exp))), d, row + s);
  }
}

HWY_INLINE void multiply_row(float* row, int64_t columns, const float* factors) {
  const FloatTag d;
  for (int64_t s = 0; s < columns; s += kFloatLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + s), hn::LoadU(d, factors + s)), d, row + s);
  }
}

// Clears what lies between the last vector a row touched and the columns that products read.
HWY_INLINE void clear_beyond(float* row, int64_t visible, int64_t columns) {
  const int64_t touched = (visible + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
  if (touched < columns) {
    std::fill(row + touched, row + columns, 0.0F);
  }
}

// scratch.weights = Q K^T for query rows [begin, end) and the keys they can see
HWY_INLINE void score_block(const HeadProblem& p, const HeadScratch& scratch, int64_t begin, int64_t end) {
  const int64_t columns = (p.visible(end) + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
  small_gemm({.m = end - begin,
              .n = columns,
              .k = p.d_head,
              .a = p.query.row(begin),
              .a_row = p.query.stride,
              .b = scratch.transposed_key,
              .b_row = p.padded(),
              .c = scratch.weights,
              .c_row = p.padded()});
}

// scratch.weights = softmax(Q K^T / sqrt(Dh)) for query rows [begin, end); log_sum_exp may be null
HWY_INLINE void weight_block(const HeadProblem& p, const HeadScratch& scratch, int64_t begin, int64_t end,
                             float* log_sum_exp) {
  score_block(p, scratch, begin, end);
  for (int64_t t = begin; t < end; ++t) {
    float* row = scratch.weights + (t - begin) * p.padded();
    const int64_t visible = p.visible(t + 1);
    const bool nothing = p.first_allowed >= visible;
    const float lse = nothing ? std::numeric_limits<float>::infinity()
                              : softmax_row(row, visible, p.score_scale(), p.masked ? scratch.mask_bias : nullptr);
    clear_beyond(row, nothing ? 0 : visible, p.padded());
    if (log_sum_exp != nullptr) {
      log_sum_exp[t * p.n_heads] = lse;
    }
  }
}

void head_forward(const HeadProblem& p, const HeadScratch& scratch, MatrixView<float> context, float* log_sum_exp) {
  transpose(p.key, p.n_keys, p.d_head, scratch.transposed_key, p.padded());
  for (int64_t begin = 0; begin < p.n_queries; begin += kQueryBlock) {
    const int64_t end = std::min(begin + kQueryBlock, p.n_queries);
    weight_block(p, scratch, begin, end, log_sum_exp);
    for (int64_t t = begin; p.dropout != nullptr && t < end; ++t) {
      p.fill_row_scales(t, p.visible(t + 1), scratch.row_scales);
      multiply_row(scratch.weights + (t - begin) * p.padded(), p.visible(t + 1), scratch.row_scales);
    }
    small_gemm({.m = end - begin,
                .n = p.d_value,
                .k = p.visible(end),
                .a = scratch.weights,
                .a_row = p.padded(),
                .b = p.value.data,
                .b_row = p.value.stride,
                .c = context.row(begin),
                .c_row = context.stride});
  }
}

void head_weights(const HeadProblem& p, const HeadScratch& scratch, float* weights) {
  transpose(p.key, p.n_keys, p.d_head, scratch.transposed_key, p.padded());
  for (int64_t begin = 0; begin < p.n_queries; begin += kQueryBlock) {
    const int64_t end = std::min(begin + kQueryBlock, p.n_queries);
    weight_block(p, scratch, begin, end, nullptr);
    for (int64_t t = begin; t < end; ++t) {
      std::copy_n(scratch.weights + (t - begin) * p.padded(), p.n_keys, weights + t * p.n_keys);
    }
  }
}

// From weights w, dropout factors f and the gradient g of f * w:  w becomes f * w,  g becomes the gradient of the
// unscaled scores, scale * w * (f g - sum_s w f g).
HWY_INLINE void softmax_row_backward(float* weights, float* grads, const float* factors, int64_t visible, float scale) {
  const FloatTag d;
  if (factors != nullptr) {
    multiply_row(grads, visible, factors);
  }
  auto sums = hn::Zero(d);
  for (int64_t s = 0; s < visible; s += kFloatLanes) {
    sums = hn::MulAdd(hn::LoadU(d, weights + s), hn::LoadU(d, grads + s), sums);
  }
  const auto mean = hn::SumOfLanes(d, sums);
  for (int64_t s = 0; s < visible; s += kFloatLanes) {
    const auto w = hn::LoadU(d, weights + s);
    const auto grad = hn::Mul(hn::Mul(w, hn::Set(d, scale)), hn::Sub(hn::LoadU(d, grads + s), mean));
    hn::StoreU(grad, d, grads + s);
  }
  if (factors != nullptr) {
    multiply_row(weights, visible, factors);
  }
}

// Of weight_block and the dropout in head_forward: fills scratch.weights with the dropped weights and
// scratch.grad_weights with the gradient of the scores.
HWY_INLINE void weight_block_backward(const HeadProblem& p, const HeadScratch& scratch, int64_t begin, int64_t end,
                                      const float* log_sum_exp) {
  for (int64_t t = begin; t < end; ++t) {
    float* weights = scratch.weights + (t - begin) * p.padded();
    float* grads = scratch.grad_weights + (t - begin) * p.padded();
    const int64_t visible = p.visible(t + 1);
    recompute_weights_row(weights, visible, p.score_scale(), p.masked ? scratch.mask_bias : nullptr,
                          log_sum_exp[t * p.n_heads]);
    if (p.dropout != nullptr) {
      p.fill_row_scales(t, visible, scratch.row_scales);
    }
    softmax_row_backward(weights, grads, p.dropout != nullptr ? scratch.row_scales : nullptr, visible, p.score_scale());
    clear_beyond(weights, visible, p.padded());
    clear_beyond(grads, visible, p.padded());
  }
}

void head_backward(const HeadProblem& p, const HeadScratch& scratch, const float* log_sum_exp,
                   MatrixView<const float> grad_context, const HeadGradients& gradients) {
  const int64_t padded = p.padded();
  transpose(p.key, p.n_keys, p.d_head, scratch.transposed_key, padded);
  transpose(p.value, p.n_keys, p.d_value, scratch.transposed_value, padded);
  for (int64_t begin = 0; begin < p.n_queries; begin += kQueryBlock) {
    const int64_t end = std::min(begin + kQueryBlock, p.n_queries), rows = end - begin, keys = p.visible(end);
    const int64_t columns = (keys + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
    score_block(p, scratch, begin, end);
    small_gemm({.m = rows,
                .n = columns,
                .k = p.d_value,
                .a = grad_context.row(begin),
                .a_row = grad_context.stride,
                .b = scratch.transposed_value,
                .b_row = padded,
                .c = scratch.grad_weights,
                .c_row = padded});
    weight_block_backward(p, scratch, begin, end, log_sum_exp);
    // context = weights V:  dV += weights^T dContext
    small_gemm({.m = keys,
                .n = p.d_value,
                .k = rows,
                .a = scratch.weights,
                .a_row = 1,
                .a_column = padded,
                .b = grad_context.row(begin),
                .b_row = grad_context.stride,
                .c = gradients.value.data,
                .c_row = gradients.value.stride,
                .accumulate = true});
    // scores = Q K^T:  dQ += dScores K,  dK += dScores^T Q
    small_gemm({.m = rows,
                .n = p.d_head,
                .k = keys,
                .a = scratch.grad_weights,
                .a_row = padded,
                .b = p.key.data,
                .b_row = p.key.stride,
                .c = gradients.query.row(begin),
                .c_row = gradients.query.stride,
                .accumulate = true});
    small_gemm({.m = keys,
                .n = p.d_head,
                .k = rows,
                .a = scratch.grad_weights,
                .a_row = 1,
                .a_column = padded,
                .b = p.query.row(begin),
                .b_row = p.query.stride,
                .c = gradients.key.data,
                .c_row = gradients.key.stride,
                .accumulate = true});
  }
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
