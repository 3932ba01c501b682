#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/output/two_pass_cross_entropy_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "kernels/cpu/output/row_sums-inl.h"
#include "kernels/cpu/output/two_pass_cross_entropy_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {

void add_parts(const float* logits_p, const float* logits_q, int64_t columns, int64_t target, TwoPassSums& sums) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const PartOfRow part_p = begin_part(logits_p, columns, target, sums.p);
  const PartOfRow part_q = begin_part(logits_q, columns, target, sums.q);
  const RowVector log2e = hn::Set(d, std::numbers::log2e_v<float>);
  const RowVector shift_p = hn::Set(d, part_p.shift), shift_q = hn::Set(d, part_q.shift);
  RowVector sum_p = hn::Zero(d), sum_q = hn::Zero(d), difference_p = hn::Zero(d), difference_q = hn::Zero(d);
  for (int64_t v = 0; v < columns; v += lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(columns - v));
    const RowVector x = hn::MaskedLoad(mask, d, logits_p + v), y = hn::MaskedLoad(mask, d, logits_q + v);
    const RowVector p = hn::IfThenElseZero(mask, vector_exp2(d, hn::Mul(hn::Sub(x, shift_p), log2e)));
    const RowVector q = hn::IfThenElseZero(mask, vector_exp2(d, hn::Mul(hn::Sub(y, shift_q), log2e)));
    const RowVector difference = hn::Sub(x, y);
    sum_p = hn::Add(sum_p, p);
    sum_q = hn::Add(sum_q, q);
    difference_p = hn::MulAdd(p, difference, difference_p);
    difference_q = hn::MulAdd(q, difference, difference_q);
  }
  const auto total = [&](RowVector lanes_of)
                         HWY_ATTR { return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, lanes_of))); };
  sums.p.sum += total(sum_p);
  sums.q.sum += total(sum_q);
  sums.difference_p = sums.difference_p * part_p.rescale + total(difference_p);
  sums.difference_q = sums.difference_q * part_q.rescale + total(difference_q);
}

void gradient_kernel(const TwoPassRow& row, const TwoPassRowGradient& options, int64_t columns, float* logits_p,
                     float* logits_q) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto set = [&](double value) HWY_ATTR { return hn::Set(d, static_cast<float>(value)); };
  const RowVector log_sum_p = set(row.log_sum_exp_p), log_sum_q = set(row.log_sum_exp_q);
  const RowVector kl_pq = set(row.kl_pq), kl_qp = set(row.kl_qp);
  const RowVector scale_p = set(options.scale_p), scale_q = set(options.scale_q);
  const RowVector divergence_scale = set(options.divergence_scale), reverse = set(options.reverse);
  const double smoothing = options.label_smoothing / static_cast<double>(options.n_classes);
  const RowVector spread_p = set(options.scale_p * smoothing), spread_q = set(options.scale_q * smoothing);
  for (int64_t v = 0; v < columns; v += lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(columns - v));
    const RowVector log_p = hn::Sub(hn::MaskedLoad(mask, d, logits_p + v), log_sum_p);
    const RowVector log_q = hn::Sub(hn::MaskedLoad(mask, d, logits_q + v), log_sum_q);
    const RowVector p = vector_exp(d, log_p), q = vector_exp(d, log_q);
    const RowVector ratio = hn::Sub(log_p, log_q), difference = hn::Sub(p, q);
    const RowVector pull_p = hn::MulAdd(p, hn::Sub(ratio, kl_pq), hn::Mul(reverse, difference));
    const RowVector pull_q = hn::NegMulAdd(hn::Mul(reverse, q), hn::Add(ratio, kl_qp), hn::Neg(difference));
    hn::BlendedStore(hn::MulAdd(divergence_scale, pull_p, hn::MulSub(scale_p, p, spread_p)), mask, d, logits_p + v);
    hn::BlendedStore(hn::MulAdd(divergence_scale, pull_q, hn::MulSub(scale_q, q, spread_q)), mask, d, logits_q + v);
  }
  if (options.target >= 0 && options.target < columns) {
    logits_p[options.target] -= static_cast<float>(options.scale_p * (1.0 - options.label_smoothing));
    logits_q[options.target] -= static_cast<float>(options.scale_q * (1.0 - options.label_smoothing));
  }
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/simd/simd.h"

namespace dragoman::kernels {
namespace {

HWY_EXPORT(add_parts);
HWY_EXPORT(gradient_kernel);

}  // namespace

void add_to_two_pass_sums(const float* logits_p, const float* logits_q, int64_t columns, int64_t target,
                          TwoPassSums& sums) {
  DRAGOMAN_DISPATCH(add_parts)(logits_p, logits_q, columns, target, sums);
}

TwoPassRow two_pass_row_of_sums(const TwoPassSums& sums, const RowLoss& loss_p, const RowLoss& loss_q) {
  const double between = loss_p.log_sum_exp - loss_q.log_sum_exp;
  return {loss_p.log_sum_exp, loss_q.log_sum_exp, std::max(sums.difference_p / sums.p.sum - between, 0.0),
          std::max(between - sums.difference_q / sums.q.sum, 0.0)};
}

void two_pass_row_gradient(const TwoPassRow& row, const TwoPassRowGradient& options, int64_t columns, float* logits_p,
                           float* logits_q) {
  DRAGOMAN_DISPATCH(gradient_kernel)(row, options, columns, logits_p, logits_q);
}

}  // namespace dragoman::kernels
#endif
