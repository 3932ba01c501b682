#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rdrop_cross_entropy_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "ops/rdrop_cross_entropy_cpu.h"
#include "ops/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {

void divergence_kernel(const float* logits_p, const float* logits_q, int64_t n_classes, RdropRow& row) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const RowVector log_sum_p = hn::Set(d, static_cast<float>(row.log_sum_exp_p));
  const RowVector log_sum_q = hn::Set(d, static_cast<float>(row.log_sum_exp_q));
  RowVector both = hn::Zero(d), forward = hn::Zero(d);  // sums of (p - q) (log p - log q), of p (log p - log q)
  for (int64_t v = 0; v < n_classes; v += lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(n_classes - v));
    const RowVector log_p = hn::Sub(hn::MaskedLoad(mask, d, logits_p + v), log_sum_p);
    const RowVector log_q = hn::Sub(hn::MaskedLoad(mask, d, logits_q + v), log_sum_q);
    const RowVector p = vector_exp(d, log_p), q = vector_exp(d, log_q);
    const RowVector ratio = hn::IfThenElseZero(mask, hn::Sub(log_p, log_q));
    both = hn::MulAdd(hn::Sub(p, q), ratio, both);
    forward = hn::MulAdd(p, ratio, forward);
  }
  row.kl_pq = hn::GetLane(hn::SumOfLanes(d, forward));
  row.kl_qp = hn::GetLane(hn::SumOfLanes(d, both)) - row.kl_pq;
}

void gradient_kernel(const RdropRow& row, const RdropRowGradient& options, int64_t n_classes, float* logits_p,
                     float* logits_q) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto set = [&](double value) HWY_ATTR { return hn::Set(d, static_cast<float>(value)); };
  const RowVector log_sum_p = set(row.log_sum_exp_p), log_sum_q = set(row.log_sum_exp_q);
  const RowVector kl_pq = set(row.kl_pq), kl_qp = set(row.kl_qp);
  const RowVector scale = set(options.cross_entropy_scale), divergence_scale = set(options.divergence_scale);
  const RowVector spread = set(options.cross_entropy_scale * options.label_smoothing / static_cast<double>(n_classes));
  for (int64_t v = 0; v < n_classes; v += lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(n_classes - v));
    const RowVector log_p = hn::Sub(hn::MaskedLoad(mask, d, logits_p + v), log_sum_p);
    const RowVector log_q = hn::Sub(hn::MaskedLoad(mask, d, logits_q + v), log_sum_q);
    const RowVector p = vector_exp(d, log_p), q = vector_exp(d, log_q);
    const RowVector ratio = hn::Sub(log_p, log_q), difference = hn::Sub(p, q);
    const RowVector pull_p = hn::MulAdd(p, hn::Sub(ratio, kl_pq), difference);
    const RowVector pull_q = hn::NegMulAdd(q, hn::Add(ratio, kl_qp), hn::Neg(difference));
    hn::BlendedStore(hn::MulAdd(divergence_scale, pull_p, hn::MulSub(scale, p, spread)), mask, d, logits_p + v);
    hn::BlendedStore(hn::MulAdd(divergence_scale, pull_q, hn::MulSub(scale, q, spread)), mask, d, logits_q + v);
  }
  const auto wanted = static_cast<float>(options.cross_entropy_scale * (1.0 - options.label_smoothing));
  logits_p[options.target] -= wanted;
  logits_q[options.target] -= wanted;
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/simd.h"

namespace dragoman::ops {
namespace {

HWY_EXPORT(divergence_kernel);
HWY_EXPORT(gradient_kernel);

}  // namespace

void divergence_row(const float* logits_p, const float* logits_q, int64_t n_classes, RdropRow& row) {
  DRAGOMAN_DISPATCH(divergence_kernel)(logits_p, logits_q, n_classes, row);
}

void rdrop_row_gradient(const RdropRow& row, const RdropRowGradient& options, int64_t n_classes, float* logits_p,
                        float* logits_q) {
  DRAGOMAN_DISPATCH(gradient_kernel)(row, options, n_classes, logits_p, logits_q);
}

}  // namespace dragoman::ops
#endif
