#include "ops/layer_norm_cpu.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/layer_norm_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {
namespace {

const float* row_of(const Tensor& matrix, int64_t row) {
  return matrix.data<float>() + row * matrix.stride(0);
}

float* row_of(Tensor& matrix, int64_t row) {
  return matrix.data<float>() + row * matrix.stride(0);
}

void norm_row(const LayerNormForward& norm, int64_t row) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t width = norm.x.dim(1);
  const float* x = row_of(norm.x, row);
  const float* gain = norm.gain.data<float>();
  const float* bias = norm.bias.data<float>();
  float* y = row_of(norm.y, row);
  const float mean = sum_row(x, width, [](RowVector v) HWY_ATTR { return v; }) / static_cast<float>(width);
  const RowVector means = hn::Set(d, mean);
  const float variance = sum_row(x, width,
                                 [&](RowVector v) HWY_ATTR {
                                   const RowVector deviation = hn::Sub(v, means);
                                   return hn::Mul(deviation, deviation);
                                 }) /
                         static_cast<float>(width);
  const float factor = 1.0F / std::sqrt(variance + norm.epsilon);
  const RowVector factors = hn::Set(d, factor);
  const auto affine = [&](RowVector v, RowVector g, RowVector b)
                          HWY_ATTR { return hn::MulAdd(hn::Mul(hn::Sub(v, means), factors), g, b); };
  int64_t c = 0;
  for (; c + lanes <= width; c += lanes) {
    hn::StoreU(affine(hn::LoadU(d, x + c), hn::LoadU(d, gain + c), hn::LoadU(d, bias + c)), d, y + c);
  }
  if (c < width) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(width - c));
    hn::BlendedStore(
        affine(hn::MaskedLoad(mask, d, x + c), hn::MaskedLoad(mask, d, gain + c), hn::MaskedLoad(mask, d, bias + c)),
        mask, d, y + c);
  }
  float* stats = row_of(norm.stats, row);
  stats[0] = mean;
  stats[1] = factor;
}

void norm_rows(const LayerNormForward& norm) {
  for (int64_t row = 0; row < norm.x.dim(0); ++row) {
    norm_row(norm, row);
  }
}

// What backward keeps while it walks one row.
struct RowBackward {
  const float* x;
  const float* gain;
  const float* grad_y;
  float* grad_x;
  float* grad_gain;
  float* grad_bias;
  float mean, factor;
  int64_t width;
};

// Calls `visit(mask, first column)` for every vector of a row; the mask covers the valid lanes.
template <class Visit>
HWY_INLINE void for_each_vector(int64_t width, Visit visit) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto all = hn::FirstN(d, hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= width; c += lanes) {
    visit(all, c);
  }
  if (c < width) {
    visit(hn::FirstN(d, static_cast<size_t>(width - c)), c);
  }
}

void norm_row_backward(const RowBackward& row) {
  const RowTag d;
  const RowVector means = hn::Set(d, row.mean), factors = hn::Set(d, row.factor);
  RowVector sum_scaled = hn::Zero(d), sum_projected = hn::Zero(d);
  for_each_vector(row.width, [&](auto mask, int64_t c) HWY_ATTR {
    const RowVector grad = hn::MaskedLoad(mask, d, row.grad_y + c);
    const RowVector normal = hn::Mul(hn::Sub(hn::MaskedLoad(mask, d, row.x + c), means), factors);
    const RowVector scaled = hn::Mul(grad, hn::MaskedLoad(mask, d, row.gain + c));
    sum_scaled = hn::Add(sum_scaled, scaled);
    sum_projected = hn::MulAdd(scaled, normal, sum_projected);
    hn::BlendedStore(hn::MulAdd(grad, normal, hn::MaskedLoad(mask, d, row.grad_gain + c)), mask, d, row.grad_gain + c);
    hn::BlendedStore(hn::Add(grad, hn::MaskedLoad(mask, d, row.grad_bias + c)), mask, d, row.grad_bias + c);
  });
  const RowVector share = hn::Set(d, 1.0F / static_cast<float>(row.width));
  const RowVector mean_scaled = hn::Mul(hn::SumOfLanes(d, sum_scaled), share);
  const RowVector mean_projected = hn::Mul(hn::SumOfLanes(d, sum_projected), share);
  for_each_vector(row.width, [&](auto mask, int64_t c) HWY_ATTR {
    const RowVector normal = hn::Mul(hn::Sub(hn::MaskedLoad(mask, d, row.x + c), means), factors);
    const RowVector scaled = hn::Mul(hn::MaskedLoad(mask, d, row.grad_y + c), hn::MaskedLoad(mask, d, row.gain + c));
    const RowVector centred = hn::NegMulAdd(normal, mean_projected, hn::Sub(scaled, mean_scaled));
    hn::BlendedStore(hn::Mul(factors, centred), mask, d, row.grad_x + c);
  });
}

void norm_rows_backward(const LayerNormBackward& norm) {
  norm.grad_gain.zero();
  norm.grad_bias.zero();
  for (int64_t row = 0; row < norm.x.dim(0); ++row) {
    const float* stats = row_of(norm.stats, row);
    norm_row_backward({row_of(norm.x, row), norm.gain.data<float>(), row_of(norm.grad_y, row), row_of(norm.grad_x, row),
                       norm.grad_gain.data<float>(), norm.grad_bias.data<float>(), stats[0], stats[1], norm.x.dim(1)});
  }
}

// One row of residual + sublayer * scales; `scales` null = nothing is dropped.
void add_row(const float* residual, const float* sublayer, const float* scales, int64_t width, float* sum) {
  const RowTag d;
  for_each_vector(width, [&](auto mask, int64_t c) HWY_ATTR {
    const RowVector left = hn::MaskedLoad(mask, d, residual + c), right = hn::MaskedLoad(mask, d, sublayer + c);
    const RowVector total =
        scales == nullptr ? hn::Add(left, right) : hn::MulAdd(right, hn::MaskedLoad(mask, d, scales + c), left);
    hn::BlendedStore(total, mask, d, sum + c);
  });
}

// Calls `after(row)` when a row of the sum is ready.
template <class After>
void add_rows(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum, After after) {
  const int64_t width = sum.dim(1);
  const bool drops = dropout.probability > 0.0F;
  Tensor scratch = Tensor::empty({drops ? width : 0});
  float* scales = drops ? scratch.data<float>() : nullptr;
  for (int64_t row = 0; row < sum.dim(0); ++row) {
    if (drops) {
      dropout_row_scales(dropout, row, width, scales);
    }
    add_row(row_of(residual, row), row_of(sublayer, row), scales, width, row_of(sum, row));
    after(row);
  }
}

void add_dropped_rows(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum) {
  add_rows(residual, sublayer, dropout, sum, [](int64_t) {});
}

void add_dropped_and_norm_rows(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum,
                               const LayerNormForward& norm) {
  add_rows(residual, sublayer, dropout, sum, [&](int64_t row) { norm_row(norm, row); });
}

}  // namespace
}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::ops {

HWY_EXPORT(norm_rows);
HWY_EXPORT(norm_rows_backward);
HWY_EXPORT(add_dropped_rows);
HWY_EXPORT(add_dropped_and_norm_rows);

void layer_norm_float32(const LayerNormForward& norm) {
  DRAGOMAN_DISPATCH(norm_rows)(norm);
}

void layer_norm_backward_float32(const LayerNormBackward& norm) {
  DRAGOMAN_DISPATCH(norm_rows_backward)(norm);
}

void residual_dropout_float32(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum) {
  DRAGOMAN_DISPATCH(add_dropped_rows)(residual, sublayer, dropout, sum);
}

void residual_dropout_layer_norm_float32(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                         Tensor& sum, const LayerNormForward& norm) {
  DRAGOMAN_DISPATCH(add_dropped_and_norm_rows)(residual, sublayer, dropout, sum, norm);
}

}  // namespace dragoman::ops
#endif
