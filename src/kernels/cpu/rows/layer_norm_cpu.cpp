#include "kernels/cpu/rows/layer_norm_cpu.h"

#include "kernels/cpu/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/layer_norm_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/simd/dropout-inl.h"
#include "kernels/cpu/simd/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace {

// Rows that go through the backward together: gain, bias and their gradients are read once for all.
constexpr int kRowsAtOnce = hn::MaxLanes(RowTag()) >= 16 ? 4 : 2;

template <class Element = float>
const Element* row_of(const Tensor& matrix, int64_t row) {
  return matrix.data<Element>() + row * matrix.stride(0);
}

template <class Element = float>
Element* row_of(Tensor& matrix, int64_t row) {
  return matrix.data<Element>() + row * matrix.stride(0);
}

// What a norm does to a row, known to the compiler, so that a norm pays for nothing that it leaves out.
template <bool kSubtractsMean, bool kAddsBias>
struct NormForm {
  static constexpr bool kCentres = kSubtractsMean, kShifts = kAddsBias;

  static HWY_INLINE RowVector centred(RowVector x, RowVector mean) {
    if constexpr (kCentres) {
      return hn::Sub(x, mean);
    } else {
      return x;
    }
  }
};

// Calls visit(NormForm).
template <class Visit>
HWY_INLINE void with_form(NormKind kind, const Tensor& bias, const Visit& visit) {
  if (kind == NormKind::kRms) {
    visit(NormForm<false, false>());
  } else if (bias.defined()) {
    visit(NormForm<true, true>());
  } else {
    visit(NormForm<true, false>());
  }
}

template <class Form>
HWY_INLINE void norm_row(const LayerNormForward& norm, int64_t row) {
  const RowTag d;
  const int64_t width = norm.x.dim(1);
  const float* x = row_of(norm.x, row);
  const float* gain = norm.gain.data<float>();
  const float* bias = Form::kShifts ? norm.bias.data<float>() : nullptr;
  float* y = row_of(norm.y, row);
  BFloat16* rounded = norm.rounded == nullptr ? nullptr : row_of<BFloat16>(*norm.rounded, row);
  float mean = 0;
  if constexpr (Form::kCentres) {
    mean = sum_row(x, width, [](RowVector v) HWY_ATTR { return v; }) / static_cast<float>(width);
  }
  const RowVector means = hn::Set(d, mean);
  const float variance = sum_row(x, width,
                                 [&](RowVector v) HWY_ATTR {
                                   const RowVector deviation = Form::centred(v, means);
                                   return hn::Mul(deviation, deviation);
                                 }) /
                         static_cast<float>(width);
  const float rstd = 1.0F / std::sqrt(variance + norm.epsilon);
  const RowVector rstds = hn::Set(d, rstd);
  for_each_vector(width, [&](auto vector, int64_t c) HWY_ATTR {
    const RowVector normal = hn::Mul(Form::centred(vector.load(x + c), means), rstds);
    RowVector result;
    if constexpr (Form::kShifts) {
      result = hn::MulAdd(normal, vector.load(gain + c), vector.load(bias + c));
    } else {
      result = hn::Mul(normal, vector.load(gain + c));
    }
    vector.store(result, y + c);
    if (rounded != nullptr) {
      vector.store(result, rounded + c);
    }
  });
  float* stats = row_of(norm.stats, row);
  stats[0] = mean;
  stats[1] = rstd;
}

void norm_rows(const LayerNormForward& norm) {
  with_form(norm.kind, norm.bias, [&](auto form) HWY_ATTR {
    for (int64_t row = 0; row < norm.x.dim(0); ++row) {
      norm_row<decltype(form)>(norm, row);
    }
  });
}

// Receives the gradient of the input that dropout acted on: grad_x * factors of the mask.
struct DroppedGradient {
  RowMasks masks;
  Tensor& grad;
};

// `dropped` null = no dropout.
template <class Form, int kRows, bool kDrops, class Element>
HWY_INLINE void norm_rows_backward(const LayerNormBackward& norm, int64_t first, DroppedGradient* dropped) {
  const RowTag d;
  const int64_t width = norm.x.dim(1);
  const float* gain = norm.gain.data<float>();
  float* grad_gain = norm.grad_gain.data<float>();
  float* grad_bias = Form::kShifts ? norm.grad_bias.data<float>() : nullptr;
  const float *x[kRows], *grad_y[kRows];
  RowVector means[kRows], rstds[kRows], scaled_sums[kRows], projected_sums[kRows];
  for (int i = 0; i < kRows; ++i) {
    const float* stats = row_of(norm.stats, first + i);
    x[i] = row_of(norm.x, first + i);
    grad_y[i] = row_of(norm.grad_y, first + i);
    means[i] = hn::Set(d, stats[0]);
    rstds[i] = hn::Set(d, stats[1]);
    scaled_sums[i] = projected_sums[i] = hn::Zero(d);
  }
  for_each_vector(width, [&](auto vector, int64_t c) HWY_ATTR {
    const RowVector gains = vector.load(gain + c);
    RowVector gain_sum = vector.load(grad_gain + c), bias_sum = hn::Zero(d);
    if constexpr (Form::kShifts) {
      bias_sum = vector.load(grad_bias + c);
    }
    HWY_UNROLL(4)
    for (int i = 0; i < kRows; ++i) {
      const RowVector grad = vector.load(grad_y[i] + c);
      const RowVector normal = hn::Mul(Form::centred(vector.load(x[i] + c), means[i]), rstds[i]);
      const RowVector scaled = hn::Mul(grad, gains);
      if constexpr (Form::kCentres) {
        scaled_sums[i] = hn::Add(scaled_sums[i], scaled);
      }
      projected_sums[i] = hn::MulAdd(scaled, normal, projected_sums[i]);
      gain_sum = hn::MulAdd(grad, normal, gain_sum);
      if constexpr (Form::kShifts) {
        bias_sum = hn::Add(grad, bias_sum);
      }
    }
    vector.store(gain_sum, grad_gain + c);
    if constexpr (Form::kShifts) {
      vector.store(bias_sum, grad_bias + c);
    }
  });
  const RowVector share = hn::Set(d, 1.0F / static_cast<float>(width));
  for (int i = 0; i < kRows; ++i) {
    const RowVector mean_scaled = hn::Mul(hn::SumOfLanes(d, scaled_sums[i]), share);
    const RowVector mean_projected = hn::Mul(hn::SumOfLanes(d, projected_sums[i]), share);
    float* grad_x = row_of(norm.grad_x, first + i);
    Element* grad_dropped = nullptr;
    if constexpr (kDrops) {
      dropped->masks.make(first + i);
      grad_dropped = row_of<Element>(dropped->grad, first + i);
    }
    for_each_vector(width, [&](auto vector, int64_t c) HWY_ATTR {
      const RowVector normal = hn::Mul(Form::centred(vector.load(x[i] + c), means[i]), rstds[i]);
      const RowVector scaled = hn::Mul(vector.load(grad_y[i] + c), vector.load(gain + c));
      const RowVector centred = hn::NegMulAdd(normal, mean_projected, Form::centred(scaled, mean_scaled));
      const RowVector grad = hn::Mul(rstds[i], centred);
      vector.store(grad, grad_x + c);
      if constexpr (kDrops) {
        vector.store(hn::Mul(grad, dropped->masks.factors(c)), grad_dropped + c);
      }
    });
  }
}

template <bool kDrops, class Element = float>
HWY_INLINE void norm_all_rows_backward(const LayerNormBackward& norm, DroppedGradient* dropped) {
  norm.grad_gain.zero();
  if (norm.grad_bias.defined()) {
    norm.grad_bias.zero();
  }
  with_form(norm.kind, norm.grad_bias, [&](auto form) HWY_ATTR {
    using Form = decltype(form);
    int64_t row = 0;
    for (; row + kRowsAtOnce <= norm.x.dim(0); row += kRowsAtOnce) {
      norm_rows_backward<Form, kRowsAtOnce, kDrops, Element>(norm, row, dropped);
    }
    for (; row < norm.x.dim(0); ++row) {
      norm_rows_backward<Form, 1, kDrops, Element>(norm, row, dropped);
    }
  });
}

void norm_backward(const LayerNormBackward& norm) {
  norm_all_rows_backward<false>(norm, nullptr);
}

void norm_and_dropout_backward(const LayerNormBackward& norm, const Dropout& dropout, Tensor& grad_dropped) {
  DroppedGradient dropped{RowMasks(dropout, norm.x.dim(1)), grad_dropped};
  if (is_bfloat16(grad_dropped)) {
    norm_all_rows_backward<true, BFloat16>(norm, &dropped);
  } else {
    norm_all_rows_backward<true>(norm, &dropped);
  }
}

// Calls `after(row)` when a row of the sum is ready.
template <class Element, class After>
HWY_INLINE void add_rows_of(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum,
                            After after) {
  const int64_t width = sum.dim(1);
  const bool drops = dropout.probability > 0.0F;
  RowMasks masks(dropout, width);
  for (int64_t row = 0; row < sum.dim(0); ++row) {
    const float* left = row_of(residual, row);
    const Element* right = row_of<Element>(sublayer, row);
    float* to = row_of(sum, row);
    if (drops) {
      masks.make(row);
      for_each_vector(width, [&](auto vector, int64_t c) HWY_ATTR {
        vector.store(hn::MulAdd(vector.load(right + c), masks.factors(c), vector.load(left + c)), to + c);
      });
    } else {
      for_each_vector(width, [&](auto vector, int64_t c) HWY_ATTR {
        vector.store(hn::Add(vector.load(left + c), vector.load(right + c)), to + c);
      });
    }
    after(row);
  }
}

template <class After>
HWY_INLINE void add_rows(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum,
                         After after) {
  is_bfloat16(sublayer) ? add_rows_of<BFloat16>(residual, sublayer, dropout, sum, after)
                        : add_rows_of<float>(residual, sublayer, dropout, sum, after);
}

void add_dropped_rows(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum) {
  add_rows(residual, sublayer, dropout, sum, [](int64_t) {});
}

void add_dropped_and_norm_rows(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum,
                               const LayerNormForward& norm) {
  with_form(norm.kind, norm.bias, [&](auto form) HWY_ATTR {
    add_rows(residual, sublayer, dropout, sum, [&](int64_t row) HWY_ATTR { norm_row<decltype(form)>(norm, row); });
  });
}

}  // namespace
}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(norm_rows);
HWY_EXPORT(norm_backward);
HWY_EXPORT(norm_and_dropout_backward);
HWY_EXPORT(add_dropped_rows);
HWY_EXPORT(add_dropped_and_norm_rows);

void layer_norm_float32(const LayerNormForward& norm) {
  DRAGOMAN_DISPATCH(norm_rows)(norm);
}

void layer_norm_backward_float32(const LayerNormBackward& norm) {
  DRAGOMAN_DISPATCH(norm_backward)(norm);
}

void residual_dropout_layer_norm_backward_float32(const LayerNormBackward& norm, const Dropout& dropout,
                                                  Tensor& grad_sublayer) {
  DRAGOMAN_DISPATCH(norm_and_dropout_backward)(norm, dropout, grad_sublayer);
}

void residual_dropout_float32(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum) {
  DRAGOMAN_DISPATCH(add_dropped_rows)(residual, sublayer, dropout, sum);
}

void residual_dropout_layer_norm_float32(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                         Tensor& sum, const LayerNormForward& norm) {
  DRAGOMAN_DISPATCH(add_dropped_and_norm_rows)(residual, sublayer, dropout, sum, norm);
}

}  // namespace dragoman::kernels
#endif
