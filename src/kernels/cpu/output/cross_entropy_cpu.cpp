#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/output/cross_entropy_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include <algorithm>

#include "kernels/cpu/output/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {

// Sum of exp(x - shift) over a row; with kStore the exponentials replace the row.
template <bool kStore, class Float>
HWY_INLINE float exponentials(Float* row, int64_t columns, float shift) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const RowVector scale = hn::Set(d, std::numbers::log2e_v<float>), shifts = hn::Set(d, shift);
  const auto power = [&](RowVector x) HWY_ATTR { return vector_exp2(d, hn::Mul(hn::Sub(x, shifts), scale)); };
  const RowVector zero = hn::Zero(d);
  RowVector sums[kSums] = {zero, zero, zero, zero};
  int64_t c = 0;
  for (; c + kSums * lanes <= columns; c += kSums * lanes) {
    HWY_UNROLL(4)
    for (int i = 0; i < kSums; ++i) {
      const RowVector e = power(hn::LoadU(d, row + c + i * lanes));
      sums[i] = hn::Add(sums[i], e);
      if constexpr (kStore) {
        hn::StoreU(e, d, row + c + i * lanes);
      }
    }
  }
  for (; c < columns; c += lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(columns - c));
    const RowVector e = hn::IfThenElseZero(mask, power(hn::MaskedLoad(mask, d, row + c)));
    sums[0] = hn::Add(sums[0], e);
    if constexpr (kStore) {
      hn::BlendedStore(e, mask, d, row + c);
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}

RowLoss loss_of(const RowSums& sums, int64_t n_classes, float label_smoothing) {
  const double log_sum = std::log(sums.sum), shift = shift_of(sums.largest);
  RowLoss loss;
  loss.correct = sums.correct;
  loss.log_sum_exp = shift + log_sum;
  loss.nll = shift - sums.wanted + log_sum;  // in this order a difference of large logits is exact
  const double mean_nll = shift - sums.total / static_cast<double>(n_classes) + log_sum;
  loss.smoothed = label_smoothing > 0 ? (1.0 - label_smoothing) * loss.nll + label_smoothing * mean_nll : loss.nll;
  return loss;
}

void add_part(const float* logits, int64_t columns, int64_t target, RowSums& sums) {
  const float shift = begin_part(logits, columns, target, sums).shift;
  sums.sum += static_cast<double>(exponentials<false>(logits, columns, shift));
}

void part_to_gradient(float* logits, int64_t columns, int64_t target, const RowSums& sums, int64_t n_classes,
                      const LossOptions& options) {
  const RowTag d;
  const double spread = options.gradient_scale * options.label_smoothing / static_cast<double>(n_classes);
  const RowVector scale = hn::Set(d, static_cast<float>(options.gradient_scale / sums.sum));
  const RowVector offset = hn::Set(d, static_cast<float>(spread));
  const RowVector log2e = hn::Set(d, std::numbers::log2e_v<float>);
  const RowVector shift = hn::Set(d, static_cast<float>(shift_of(sums.largest)));
  map_row(logits, columns, logits, [&](RowVector x) HWY_ATTR {
    return hn::MulSub(vector_exp2(d, hn::Mul(hn::Sub(x, shift), log2e)), scale, offset);
  });
  if (target >= 0 && target < columns) {
    logits[target] -= static_cast<float>(options.gradient_scale * (1.0 - options.label_smoothing));
  }
}

// The loss, and the sum of the exponentials; with kStore these replace the row.
struct LossAndSum {
  RowLoss loss;
  float sum;
};

template <bool kStore, class Float>
HWY_INLINE LossAndSum loss_of_row(Float* logits, int64_t n_classes, int32_t target, float label_smoothing) {
  const RowScan scan = scan_row(logits, n_classes);
  const float wanted = logits[target];
  const bool correct = wanted == scan.largest && std::find(logits, logits + target, wanted) == logits + target;
  const float sum = exponentials<kStore>(logits, n_classes, shift_of(scan.largest));
  const RowSums sums{static_cast<double>(scan.largest), static_cast<double>(sum), static_cast<double>(scan.sum),
                     static_cast<double>(wanted), correct};
  return {loss_of(sums, n_classes, label_smoothing), sum};
}

RowLoss loss_kernel(const float* logits, int64_t n_classes, int32_t target, float label_smoothing) {
  return loss_of_row<false>(logits, n_classes, target, label_smoothing).loss;
}

RowLoss loss_and_gradient_kernel(float* logits, int64_t n_classes, int32_t target, const LossOptions& options) {
  const LossAndSum result = loss_of_row<true>(logits, n_classes, target, options.label_smoothing);
  const double spread = options.gradient_scale * options.label_smoothing / static_cast<double>(n_classes);
  const RowVector scale = hn::Set(RowTag(), static_cast<float>(options.gradient_scale / result.sum));
  const RowVector offset = hn::Set(RowTag(), static_cast<float>(spread));
  map_row(logits, n_classes, logits, [&](RowVector e) HWY_ATTR { return hn::MulSub(e, scale, offset); });
  logits[target] -= static_cast<float>(options.gradient_scale * (1.0 - options.label_smoothing));
  return result.loss;
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/simd/simd.h"

namespace dragoman::kernels {
namespace {

HWY_EXPORT(loss_kernel);
HWY_EXPORT(loss_and_gradient_kernel);
HWY_EXPORT(add_part);
HWY_EXPORT(loss_of);
HWY_EXPORT(part_to_gradient);

}  // namespace

RowLoss cross_entropy_row(const float* logits, int64_t n_classes, int32_t target, float label_smoothing) {
  return DRAGOMAN_DISPATCH(loss_kernel)(logits, n_classes, target, label_smoothing);
}

RowLoss cross_entropy_row_gradient(float* logits, int64_t n_classes, int32_t target, const LossOptions& options) {
  return DRAGOMAN_DISPATCH(loss_and_gradient_kernel)(logits, n_classes, target, options);
}

void add_to_row_sums(const float* logits, int64_t columns, int64_t target, RowSums& sums) {
  DRAGOMAN_DISPATCH(add_part)(logits, columns, target, sums);
}

RowLoss loss_of_row_sums(const RowSums& sums, int64_t n_classes, float label_smoothing) {
  return DRAGOMAN_DISPATCH(loss_of)(sums, n_classes, label_smoothing);
}

void logits_to_gradient(float* logits, int64_t columns, int64_t target, const RowSums& sums, int64_t n_classes,
                        const LossOptions& options) {
  DRAGOMAN_DISPATCH(part_to_gradient)(logits, columns, target, sums, n_classes, options);
}

}  // namespace dragoman::kernels
#endif
