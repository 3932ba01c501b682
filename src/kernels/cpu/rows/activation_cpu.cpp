#include "kernels/cpu/rows/activation_cpu.h"

#include "kernels/cpu/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/activation_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/simd/activation-inl.h"
#include "kernels/cpu/simd/dropout-inl.h"

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
  switch (activation) {
    case Activation::kGelu:
      return map_two_rows(saved, grad_y, columns, grad_x,
                          [](RowVector x, RowVector dy) HWY_ATTR { return hn::Mul(dy, Gelu::slope(x)); });
    case Activation::kSilu:
      return map_two_rows(saved, grad_y, columns, grad_x,
                          [](RowVector x, RowVector dy) HWY_ATTR { return hn::Mul(dy, Silu::slope(x)); });
    default:
      return map_two_rows(saved, grad_y, columns, grad_x, [](RowVector, RowVector dy) HWY_ATTR { return dy; });
  }
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

void activation_cpu(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y) {
  DRAGOMAN_DISPATCH(activate_rows)(x, activation, dropout, y);
}

void activation_backward_cpu(const Tensor& saved, const Tensor& grad_y, Activation activation, const Dropout& dropout,
                             Tensor& grad_x) {
  DRAGOMAN_DISPATCH(activate_backward_rows)(saved, grad_y, activation, dropout, grad_x);
}

}  // namespace dragoman::kernels
#endif
