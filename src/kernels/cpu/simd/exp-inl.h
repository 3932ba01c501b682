// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_EXP_INL_H_
#undef DRAGOMAN_KERNELS_EXP_INL_H_
#else
#define DRAGOMAN_KERNELS_EXP_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns: the larger of `least` and x, or NaN if x is NaN. On x86 the instruction gives its second operand for NaN,
/// on ARM the number.
template <class V>
HWY_INLINE V at_least(V least, V x) {
  const V larger = hn::Max(least, x);
  if constexpr (HWY_ARCH_X86) {
    return larger;
  } else {
    return hn::IfThenElse(hn::IsNaN(x), x, larger);
  }
}

/// Returns: the smaller of `most` and x, likewise.
template <class V>
HWY_INLINE V at_most(V most, V x) {
  const V smaller = hn::Min(most, x);
  if constexpr (HWY_ARCH_X86) {
    return smaller;
  } else {
    return hn::IfThenElse(hn::IsNaN(x), x, smaller);
  }
}

/// Returns: exp(x) of each float lane, with a relative error below 2e-7. Below -87.3 (the smallest normal result) the
/// result is exactly 0. Above 88.3 it is exp(88.3), without overflow. NaN stays NaN.
/// Method: x = n ln 2 + r with |r| <= ln(2)/2, polynomial of degree 6 for exp(r), exponent n added by a multiplication.
/// Source: Cephes expf (Moshier 1989), for the coefficients of r^2..r^6.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_exp(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto underflows = hn::Lt(x, hn::Set(d, -87.33654F));
  const V bounded = at_most(hn::Set(d, 88.3F), at_least(hn::Set(d, -87.33654F), x));
  const V n = hn::Round(hn::Mul(bounded, hn::Set(d, 1.44269504088896341F)));
  const V r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), hn::NegMulAdd(n, hn::Set(d, 0.693359375F), bounded));
  V p = hn::Set(d, 1.9875691500e-4F);
  p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1F));
  p = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0F));
  const auto power = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  return hn::IfThenZeroElse(underflows, hn::Mul(p, hn::BitCast(d, power)));
}

/// Returns: 2 to the power x of each float lane for x <= 127, with a relative error below 3e-7. The result is exactly 0
/// below -126.5 and for -infinity, and exactly 1 at 0. NaN stays NaN.
/// This takes about half the work of vector_exp. It suffices for a softmax whose scores are multiplied by log2(e).
/// Method: x = n + r with |r| <= 1/2, minimax polynomial of degree 5 for 2^r with its constant rounded to 1. Adding
/// 1.5 * 2^23 + 127 moves the exponent n into place, since the last bits of the sum are n + 127.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_exp2(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V magic = hn::Set(d, 12583039.0F);
  const V bounded = at_least(hn::Set(d, -127.0F), x);
  const V shifted = hn::Add(bounded, magic);
  const V r = hn::Sub(bounded, hn::Sub(shifted, magic));
  V p = hn::Set(d, 1.3276471994e-3F);
  p = hn::MulAdd(p, r, hn::Set(d, 9.6755413348e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 5.5507132735e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 2.4022119724e-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 6.9314696706e-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
