#include "kernels/cpu/rows/activation_cpu.h"

#include "kernels/cpu/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/activation_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/simd/activation-inl.h"
#include "kernels/cpu/simd/dropout-inl.h"
#include "kernels/row_of.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace {

template <class Element>
void mask_row(const Element* from, const RowMasks& masks, int64_t columns, Element* to) {
  for_each_vector(columns, [&](auto vector, int64_t c)
                               HWY_ATTR { vector.store(hn::Mul(vector.load(from + c), masks.factors(c)), to + c); });
}

template <class Element>
void activate(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y) {
  const int64_t columns = x.dim(1);
  RowMasks masks(dropout, columns);
  for (int64_t row = 0; row < x.dim(0); ++row) {
    Element* to = y.data<Element>() + row * y.stride(0);
    activate_row(x.data<Element>() + row * x.stride(0), columns, activation, to);
    if (dropout.probability > 0.0F) {
      masks.make(row);
      mask_row(to, masks, columns, to);
    }
  }
}

// grad_x = grad_y * slope of the activation.
template <class Element>
void slope_row(const Element* saved, const Element* grad_y, int64_t columns, Activation activation, Element* grad_x) {
  with_curve(activation, [&](auto curve) HWY_ATTR {
    map_two_rows(saved, grad_y, columns, grad_x,
                 [](RowVector x, RowVector dy) HWY_ATTR { return hn::Mul(dy, decltype(curve)::slope(x)); });
  });
}

// y > 0 tells both that x > 0 and that the element was kept, so the mask is not needed again.
template <class Element>
void relu_backward(const Tensor& y, const Tensor& grad_y, const Dropout& dropout, Tensor& grad_x) {
  const RowTag d;
  const RowVector scale = hn::Set(d, static_cast<float>(dropout_scale(dropout)));
  for (int64_t row = 0; row < y.dim(0); ++row) {
    map_two_rows(y.data<Element>() + row * y.stride(0), grad_y.data<Element>() + row * grad_y.stride(0), y.dim(1),
                 grad_x.data<Element>() + row * grad_x.stride(0), [&](RowVector value, RowVector dy) HWY_ATTR {
                   return hn::IfThenElseZero(hn::Gt(value, hn::Zero(RowTag())), hn::Mul(dy, scale));
                 });
  }
}

template <class Element>
void activate_backward(const Tensor& saved, const Tensor& grad_y, Activation activation, const Dropout& dropout,
                       Tensor& grad_x) {
  if (activation == Activation::kRelu) {
    return relu_backward<Element>(saved, grad_y, dropout, grad_x);
  }
  const int64_t columns = saved.dim(1);
  RowMasks masks(dropout, columns);
  for (int64_t row = 0; row < saved.dim(0); ++row) {
    Element* to = grad_x.data<Element>() + row * grad_x.stride(0);
    const Element* from = grad_y.data<Element>() + row * grad_y.stride(0);
    if (dropout.probability > 0.0F) {
      masks.make(row);
      mask_row(from, masks, columns, to);
      from = to;
    }
    slope_row(saved.data<Element>() + row * saved.stride(0), from, columns, activation, to);
  }
}

// y = curve(gate) * up (* factors of the mask), a row at a time.
template <bool kDrops, class Element>
void gate_rows(const GatedInputs& in, Tensor& y) {
  const int64_t columns = in.gate.dim(1);
  RowMasks masks(in.dropout, columns);
  with_curve(in.activation, [&](auto curve) HWY_ATTR {
    for (int64_t row = 0; row < in.gate.dim(0); ++row) {
      const Element *gate = row_of<Element>(in.gate, row), *up = row_of<Element>(in.up, row);
      Element* to = row_of<Element>(y, row);
      if constexpr (kDrops) {
        masks.make(row);
      }
      for_each_vector(columns, [&](auto vector, int64_t c) HWY_ATTR {
        RowVector result = hn::Mul(decltype(curve)::value(vector.load(gate + c)), vector.load(up + c));
        if constexpr (kDrops) {
          result = hn::Mul(result, masks.factors(c));
        }
        vector.store(result, to + c);
      });
    }
  });
}

// y = curve(gate) * up * factors:  d gate = dy * factors * up * slope(gate),  d up = dy * factors * curve(gate)
template <bool kDrops, class Element>
void gate_rows_backward(const GatedInputs& in, const Tensor& grad_y, const GatedGradients& gradients) {
  const int64_t columns = in.gate.dim(1);
  RowMasks masks(in.dropout, columns);
  with_curve(in.activation, [&](auto curve) HWY_ATTR {
    using Curve = decltype(curve);
    for (int64_t row = 0; row < in.gate.dim(0); ++row) {
      const Element *gate = row_of<Element>(in.gate, row), *up = row_of<Element>(in.up, row);
      const Element* from = row_of<Element>(grad_y, row);
      Element *grad_gate = row_of<Element>(gradients.gate, row), *grad_up = row_of<Element>(gradients.up, row);
      if constexpr (kDrops) {
        masks.make(row);
      }
      for_each_vector(columns, [&](auto vector, int64_t c) HWY_ATTR {
        const RowVector x = vector.load(gate + c);
        RowVector grad = vector.load(from + c);
        if constexpr (kDrops) {
          grad = hn::Mul(grad, masks.factors(c));
        }
        vector.store(hn::Mul(hn::Mul(grad, vector.load(up + c)), Curve::slope(x)), grad_gate + c);
        vector.store(hn::Mul(grad, Curve::value(x)), grad_up + c);
      });
    }
  });
}

template <class Element>
void gate(const GatedInputs& in, Tensor& y) {
  in.dropout.probability > 0.0F ? gate_rows<true, Element>(in, y) : gate_rows<false, Element>(in, y);
}

template <class Element>
void gate_backward(const GatedInputs& in, const Tensor& grad_y, const GatedGradients& gradients) {
  in.dropout.probability > 0.0F ? gate_rows_backward<true, Element>(in, grad_y, gradients)
                                : gate_rows_backward<false, Element>(in, grad_y, gradients);
}

void gated_rows(const GatedInputs& in, Tensor& y) {
  is_bfloat16(in.gate) ? gate<BFloat16>(in, y) : gate<float>(in, y);
}

void gated_backward_rows(const GatedInputs& in, const Tensor& grad_y, const GatedGradients& gradients) {
  is_bfloat16(in.gate) ? gate_backward<BFloat16>(in, grad_y, gradients) : gate_backward<float>(in, grad_y, gradients);
}

void activate_rows(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y) {
  (is_bfloat16(x) ? activate<BFloat16> : activate<float>)(x, activation, dropout, y);
}

void activate_backward_rows(const Tensor& saved, const Tensor& grad_y, Activation activation, const Dropout& dropout,
                            Tensor& grad_x) {
  (is_bfloat16(saved) ? activate_backward<BFloat16> : activate_backward<float>)(saved, grad_y, activation, dropout,
                                                                                grad_x);
}

}  // namespace
}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(activate_rows);
HWY_EXPORT(activate_backward_rows);
HWY_EXPORT(gated_rows);
HWY_EXPORT(gated_backward_rows);

void activation_cpu(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y) {
  DRAGOMAN_DISPATCH(activate_rows)(x, activation, dropout, y);
}

void activation_backward_cpu(const Tensor& saved, const Tensor& grad_y, Activation activation, const Dropout& dropout,
                             Tensor& grad_x) {
  DRAGOMAN_DISPATCH(activate_backward_rows)(saved, grad_y, activation, dropout, grad_x);
}

void gated_activation_cpu(const GatedInputs& inputs, Tensor& y) {
  DRAGOMAN_DISPATCH(gated_rows)(inputs, y);
}

void gated_activation_backward_cpu(const GatedInputs& inputs, const Tensor& grad_y, const GatedGradients& gradients) {
  DRAGOMAN_DISPATCH(gated_backward_rows)(inputs, grad_y, gradients);
}

}  // namespace dragoman::kernels
#endif
