#include "kernels/cpu/simd/vector_math.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "kernels/cpu/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/vector_math_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "kernels/cpu/simd/exp-inl.h"
#include "kernels/cpu/simd/row_math-inl.h"
#include "kernels/cpu/simd/vector_math_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace {

double squares(const float* x, int64_t count) {
  const RowTag d;
  const hn::Repartition<double, RowTag> wide;
  const hn::Half<RowTag> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto lower = hn::Zero(wide), upper = hn::Zero(wide);
  for (int64_t i = 0; i < count; i += lanes) {
    const RowVector v = i + lanes <= count ? hn::LoadU(d, x + i)
                                           : hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count - i)), d, x + i);
    const auto low = hn::PromoteTo(wide, hn::LowerHalf(half, v)), high = hn::PromoteTo(wide, hn::UpperHalf(half, v));
    lower = hn::MulAdd(low, low, lower);
    upper = hn::MulAdd(high, high, upper);
  }
  return hn::GetLane(hn::SumOfLanes(wide, hn::Add(lower, upper)));
}

bool finite(const float* x, int64_t count) {
  const RowTag d;
  const hn::RebindToSigned<RowTag> integers;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto largest = hn::Zero(integers);  // of the bits without sign: exponent 255 means infinite or NaN
  for (int64_t i = 0; i < count; i += lanes) {
    const RowVector v = i + lanes <= count ? hn::LoadU(d, x + i)
                                           : hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count - i)), d, x + i);
    largest = hn::Max(largest, hn::BitCast(integers, hn::Abs(v)));
  }
  return hn::GetLane(hn::MaxOfLanes(integers, largest)) < 0x7F800000;
}

void add(float* to, const float* from, int64_t count) {
  map_two_rows(to, from, count, to, [](RowVector a, RowVector b) HWY_ATTR { return hn::Add(a, b); });
}

void add_widened(float* to, const BFloat16* from, int64_t count) {
  map_two_rows(to, from, count, to, [](RowVector a, RowVector b) HWY_ATTR { return hn::Add(a, b); });
}

void multiply(float* to, float factor, int64_t count) {
  const RowVector factors = hn::Set(RowTag(), factor);
  map_row(to, count, to, [&](RowVector a) HWY_ATTR { return hn::Mul(a, factors); });
}

void add_multiple(float factor, const float* x, float* to, int64_t count) {
  const RowVector factors = hn::Set(RowTag(), factor);
  map_two_rows(to, x, count, to, [&](RowVector a, RowVector b) HWY_ATTR { return hn::MulAdd(factors, b, a); });
}

void move_towards(float* average, const float* weights, float share, int64_t count) {
  const RowVector shares = hn::Set(RowTag(), share);
  map_two_rows(average, weights, count, average,
               [&](RowVector a, RowVector w) HWY_ATTR { return hn::MulAdd(shares, hn::Sub(w, a), a); });
}

void exponentials(const float* x, float shift, float factor, float* to, int64_t count) {
  const RowTag d;
  const RowVector shifts = hn::Set(d, shift), factors = hn::Set(d, factor);
  map_row(x, count, to, [&](RowVector v) HWY_ATTR { return vector_exp(d, hn::Mul(hn::Sub(v, shifts), factors)); });
}

// log p of one member. The normaliser in two floats: a likely token keeps log p <= 0 within the rounding of its logit.
template <class Part>
HWY_INLINE RowVector log_probabilities(Part part, const float* logits, double normaliser) {
  const RowTag d;
  const auto high = static_cast<float>(normaliser);
  const auto low = static_cast<float>(normaliser - static_cast<double>(high));
  return hn::Sub(hn::Sub(part.load(logits), hn::Set(d, high)), hn::Set(d, low));
}

void log_mean(std::span<const std::span<const float>> logits, std::span<const double> normalisers,
              std::span<float> to) {
  const RowTag d;
  const RowVector impossible = hn::Set(d, -std::numeric_limits<float>::infinity());
  const RowVector share = hn::Set(d, 1.0F / static_cast<float>(logits.size()));
  for_each_vector(static_cast<int64_t>(to.size()), [&](auto part, int64_t c) HWY_ATTR {
    RowVector largest = impossible;
    for (size_t m = 0; m < logits.size(); ++m) {
      largest = hn::Max(largest, log_probabilities(part, logits[m].data() + c, normalisers[m]));
    }
    RowVector sum = hn::Zero(d);
    for (size_t m = 0; m < logits.size(); ++m) {
      const RowVector log_p = log_probabilities(part, logits[m].data() + c, normalisers[m]);
      sum = hn::Add(sum, vector_exp(d, hn::Sub(log_p, largest)));
    }
    const RowVector mean = hn::Add(largest, hn::Log(d, hn::Mul(sum, share)));
    part.store(hn::IfThenElse(hn::Eq(largest, impossible), impossible, mean), to.data() + c);
  });
}

HWY_INLINE RowVector without_denormals(RowVector v) {
  const RowTag d;
  return hn::IfThenElseZero(hn::Ge(hn::Abs(v), hn::Set(d, std::numeric_limits<float>::min())), v);
}

void adam(const AdamBuffers& buffers, const AdamFactors& factors) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const RowVector beta1 = hn::Set(d, factors.beta1), rest1 = hn::Set(d, factors.rest1);
  const RowVector beta2 = hn::Set(d, factors.beta2), rest2 = hn::Set(d, factors.rest2);
  const RowVector scale = hn::Set(d, factors.gradient_scale), rate = hn::Set(d, factors.rate);
  const RowVector root_scale = hn::Set(d, factors.root_scale), epsilon = hn::Set(d, factors.epsilon);
  const RowVector keep = hn::Set(d, factors.keep);
  for (int64_t i = 0; i < buffers.count; i += lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(std::min(lanes, buffers.count - i)));
    const RowVector g = hn::Mul(hn::MaskedLoad(mask, d, buffers.grads + i), scale);
    const RowVector m =
        without_denormals(hn::MulAdd(beta1, hn::MaskedLoad(mask, d, buffers.moment1 + i), hn::Mul(rest1, g)));
    const RowVector v = without_denormals(
        hn::MulAdd(beta2, hn::MaskedLoad(mask, d, buffers.moment2 + i), hn::Mul(rest2, hn::Mul(g, g))));
    const RowVector step = hn::Div(hn::Mul(rate, m), hn::MulAdd(hn::Sqrt(v), root_scale, epsilon));
    hn::BlendedStore(m, mask, d, buffers.moment1 + i);
    hn::BlendedStore(v, mask, d, buffers.moment2 + i);
    hn::BlendedStore(hn::MulSub(keep, hn::MaskedLoad(mask, d, buffers.weights + i), step), mask, d,
                     buffers.weights + i);
  }
}

}  // namespace
}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(squares);
HWY_EXPORT(finite);
HWY_EXPORT(add);
HWY_EXPORT(add_widened);
HWY_EXPORT(multiply);
HWY_EXPORT(add_multiple);
HWY_EXPORT(move_towards);
HWY_EXPORT(exponentials);
HWY_EXPORT(adam);
HWY_EXPORT(log_mean);

namespace {

int64_t common_size(const char* op, size_t left, size_t right) {
  base::check_argument(left == right, "{}: {} and {} elements", op, left, right);
  return static_cast<int64_t>(left);
}

}  // namespace

double sum_of_squares(std::span<const float> x) {
  return DRAGOMAN_DISPATCH(squares)(x.data(), static_cast<int64_t>(x.size()));
}

bool all_finite(std::span<const float> x) {
  return DRAGOMAN_DISPATCH(finite)(x.data(), static_cast<int64_t>(x.size()));
}

void add_in_place(std::span<float> to, std::span<const float> from) {
  DRAGOMAN_DISPATCH(add)(to.data(), from.data(), common_size("add_in_place", to.size(), from.size()));
}

void add_in_place(std::span<float> to, std::span<const tensor::BFloat16> from) {
  DRAGOMAN_DISPATCH(add_widened)(to.data(), from.data(), common_size("add_in_place", to.size(), from.size()));
}

void scale_in_place(std::span<float> to, float factor) {
  DRAGOMAN_DISPATCH(multiply)(to.data(), factor, static_cast<int64_t>(to.size()));
}

void axpy(float factor, std::span<const float> x, std::span<float> to) {
  DRAGOMAN_DISPATCH(add_multiple)(factor, x.data(), to.data(), common_size("axpy", x.size(), to.size()));
}

void ema_update(std::span<float> average, std::span<const float> weights, double decay) {
  const int64_t count = common_size("ema_update", average.size(), weights.size());
  DRAGOMAN_DISPATCH(move_towards)(average.data(), weights.data(), static_cast<float>(1.0 - decay), count);
}

void exp_weights(std::span<const float> x, float shift, float factor, std::span<float> to) {
  const int64_t count = common_size("exp_weights", to.size(), x.size());
  DRAGOMAN_DISPATCH(exponentials)(x.data(), shift, factor, to.data(), count);
}

void log_mean_exp(std::span<const std::span<const float>> logits, std::span<const double> normalisers,
                  std::span<float> to) {
  base::check_argument(!logits.empty(), "log_mean_exp: no rows");
  common_size("log_mean_exp", logits.size(), normalisers.size());
  for (const std::span<const float> row : logits) {
    common_size("log_mean_exp", to.size(), row.size());
  }
  DRAGOMAN_DISPATCH(log_mean)(logits, normalisers, to);
}

void adam_update(std::span<float> weights, std::span<const float> grads, std::span<float> moment1,
                 std::span<float> moment2, const AdamScalars& scalars) {
  const int64_t count = common_size("adam_update", weights.size(), grads.size());
  common_size("adam_update", weights.size(), moment1.size());
  common_size("adam_update", weights.size(), moment2.size());
  base::check_argument(scalars.step >= 1, "adam_update: step is {}, must be >= 1", scalars.step);
  DRAGOMAN_DISPATCH(adam)({weights.data(), grads.data(), moment1.data(), moment2.data(), count}, adam_factors(scalars));
}

}  // namespace dragoman::kernels
#endif
