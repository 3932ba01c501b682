// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_ACTIVATION_INL_H_
#undef DRAGOMAN_KERNELS_ACTIVATION_INL_H_
#else
#define DRAGOMAN_KERNELS_ACTIVATION_INL_H_
#endif

#include "kernels/activation.h"
#include "kernels/cpu/simd/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {

/// Computes exp(-x^2 / 2) and the cumulative normal distribution Phi(x), with an absolute error below 2e-7:
///   Phi(-|x|) = poly(t) exp(-x^2 / 2) / 2,  t = 1 / (1 + 0.3275911 |x| / sqrt(2))
/// Source: Abramowitz and Stegun 1964, 7.1.26.
struct NormalDistribution {
  RowVector bell;
  RowVector cumulative;
};

HWY_INLINE NormalDistribution normal_distribution(RowVector x) {
  const RowTag d;
  const RowVector one = hn::Set(d, 1.0F);
  const RowVector bell = vector_exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5F)));
  const RowVector t = hn::Div(one, hn::MulAdd(hn::Abs(x), hn::Set(d, 0.231641888F), one));
  RowVector poly = hn::Set(d, 0.5F * 1.061405429F);
  poly = hn::MulAdd(poly, t, hn::Set(d, 0.5F * -1.453152027F));
  poly = hn::MulAdd(poly, t, hn::Set(d, 0.5F * 1.421413741F));
  poly = hn::MulAdd(poly, t, hn::Set(d, 0.5F * -0.284496736F));
  poly = hn::MulAdd(poly, t, hn::Set(d, 0.5F * 0.254829592F));
  const RowVector tail = hn::Mul(hn::Mul(poly, t), bell);
  return {bell, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail))};
}

/// Returns: 1 / (1 + exp(-x)), from the exponential of -|x| only, so that it falls to 0 for very negative x.
HWY_INLINE RowVector sigmoid(RowVector x) {
  const RowTag d;
  const RowVector one = hn::Set(d, 1.0F);
  const RowVector small = vector_exp(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), small, one), hn::Add(one, small));
}

/// Returns: (1 - e) / (1 + e) with the sign of x, e = exp(-2 |x|), with an absolute error below 2e-7.
HWY_INLINE RowVector tanh_of(RowVector x) {
  const RowTag d;
  const RowVector one = hn::Set(d, 1.0F);
  const RowVector small = vector_exp(d, hn::Mul(hn::Abs(x), hn::Set(d, -2.0F)));
  return hn::CopySign(hn::Div(hn::Sub(one, small), hn::Add(one, small)), x);
}

// Each nonlinearity has a value and, for the backward, a slope at x.

struct Identity {
  static HWY_INLINE RowVector value(RowVector x) { return x; }
  static HWY_INLINE RowVector slope(RowVector) { return hn::Set(RowTag(), 1.0F); }
};

struct Relu {
  static HWY_INLINE RowVector value(RowVector x) {
    const RowTag d;
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);  // NaN stays NaN
  }
  static HWY_INLINE RowVector slope(RowVector x) {
    const RowTag d;
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0F));
  }
};

struct ReluSquared {
  static HWY_INLINE RowVector value(RowVector x) {
    const RowVector positive = Relu::value(x);
    return hn::Mul(positive, positive);
  }
  static HWY_INLINE RowVector slope(RowVector x) {
    const RowVector positive = Relu::value(x);
    return hn::Add(positive, positive);
  }
};

struct Gelu {
  static HWY_INLINE RowVector value(RowVector x) { return hn::Mul(x, normal_distribution(x).cumulative); }
  /// Returns: Phi(x) + x phi(x), phi(x) = exp(-x^2 / 2) / sqrt(2 pi).
  static HWY_INLINE RowVector slope(RowVector x) {
    const RowTag d;
    const NormalDistribution normal = normal_distribution(x);
    return hn::MulAdd(hn::Mul(x, hn::Set(d, 0.398942280F)), normal.bell, normal.cumulative);
  }
};

/// (1 + tanh(u)) / 2 is sigmoid(2 u), and 2 u = x (a + b x^2).
struct GeluTanh {
  static constexpr float kA = 1.59576912F;   // 2 sqrt(2 / pi)
  static constexpr float kB = 0.071354816F;  // 0.044715 a

  static HWY_INLINE RowVector value(RowVector x) { return hn::Mul(x, sigmoid(twice_u(x))); }
  /// Returns: s + x s (1 - s) (a + 3 b x^2), s = sigmoid(2 u). The second term is 0 where |x| > 16.
  static HWY_INLINE RowVector slope(RowVector x) {
    const RowTag d;
    const RowVector one = hn::Set(d, 1.0F);
    const RowVector bounded = at_most(hn::Set(d, 16.0F), at_least(hn::Set(d, -16.0F), x));
    const RowVector small = vector_exp(d, hn::Neg(hn::Abs(twice_u(bounded))));
    const RowVector inverse = hn::Div(one, hn::Add(one, small));
    const RowVector s = hn::Mul(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), small, one), inverse);
    const RowVector change = hn::MulAdd(hn::Mul(bounded, bounded), hn::Set(d, 3 * kB), hn::Set(d, kA));
    return hn::MulAdd(hn::Mul(bounded, change), hn::Mul(hn::Mul(small, inverse), inverse), s);
  }

 private:
  static HWY_INLINE RowVector twice_u(RowVector x) {
    const RowTag d;
    return hn::Mul(x, hn::MulAdd(hn::Mul(x, x), hn::Set(d, kB), hn::Set(d, kA)));
  }
};

struct Silu {
  static HWY_INLINE RowVector value(RowVector x) { return hn::Mul(x, sigmoid(x)); }
  /// Returns: s (1 + x (1 - s)), s = sigmoid(x).
  static HWY_INLINE RowVector slope(RowVector x) {
    const RowTag d;
    const RowVector one = hn::Set(d, 1.0F), s = sigmoid(x);
    return hn::Mul(s, hn::MulAdd(x, hn::Sub(one, s), one));
  }
};

struct Tanh {
  static HWY_INLINE RowVector value(RowVector x) { return tanh_of(x); }
  static HWY_INLINE RowVector slope(RowVector x) {
    const RowVector y = tanh_of(x);
    return hn::NegMulAdd(y, y, hn::Set(RowTag(), 1.0F));
  }
};

struct Sigmoid {
  static HWY_INLINE RowVector value(RowVector x) { return sigmoid(x); }
  static HWY_INLINE RowVector slope(RowVector x) {
    const RowVector y = sigmoid(x);
    return hn::NegMulAdd(y, y, y);
  }
};

/// Calls visit(Identity(), Relu() or another of the structs above).
template <class Visit>
HWY_INLINE void with_curve(Activation activation, const Visit& visit) {
  switch (activation) {
    case Activation::kNone:
      return visit(Identity());
    case Activation::kRelu:
      return visit(Relu());
    case Activation::kGelu:
      return visit(Gelu());
    case Activation::kSilu:
      return visit(Silu());
    case Activation::kGeluTanh:
      return visit(GeluTanh());
    case Activation::kReluSquared:
      return visit(ReluSquared());
    case Activation::kTanh:
      return visit(Tanh());
    case Activation::kSigmoid:
      return visit(Sigmoid());
  }
}

/// Computes to[c] = activation(from[c]) for rows of float32 or bfloat16; `to` may be `from`.
template <class Element>
HWY_INLINE void activate_row(const Element* from, int64_t columns, Activation activation, Element* to) {
  with_curve(activation, [&](auto curve) HWY_ATTR {
    map_row(from, columns, to, [](RowVector x) HWY_ATTR { return decltype(curve)::value(x); });
  });
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
