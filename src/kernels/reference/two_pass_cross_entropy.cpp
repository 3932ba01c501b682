#include "kernels/reference/two_pass_cross_entropy.h"

#include <algorithm>
#include <cmath>

namespace dragoman::kernels::reference {
namespace {

// Adds a part of a row. @return what brings sums of earlier exponentials to the new largest
double add_to_row_sums(const double* logits, int64_t columns, int64_t target, RowSums& sums) {
  const double before = sums.largest;
  const double* const largest = std::max_element(logits, logits + columns);  // the first of equals
  sums.largest = std::max(before, *largest);
  const double rescale = std::exp(before - sums.largest);
  sums.sum *= rescale;
  for (int64_t v = 0; v < columns; ++v) {
    sums.sum += std::exp(logits[v] - sums.largest);
    sums.total += logits[v];
  }
  sums.correct = sums.correct && sums.largest == before;
  if (target >= 0 && target < columns) {
    sums.wanted = logits[target];
    sums.correct = *largest > before && largest == logits + target;
  }
  return rescale;
}

}  // namespace

void add_to_two_pass_sums(const double* logits_p, const double* logits_q, int64_t columns, int64_t target,
                          TwoPassSums& sums) {
  sums.difference_p *= add_to_row_sums(logits_p, columns, target, sums.p);
  sums.difference_q *= add_to_row_sums(logits_q, columns, target, sums.q);
  for (int64_t v = 0; v < columns; ++v) {
    sums.difference_p += std::exp(logits_p[v] - sums.p.largest) * (logits_p[v] - logits_q[v]);
    sums.difference_q += std::exp(logits_q[v] - sums.q.largest) * (logits_p[v] - logits_q[v]);
  }
}

void two_pass_row_gradient(const TwoPassRow& row, const TwoPassRowGradient& options, int64_t columns, double* logits_p,
                           double* logits_q) {
  const double spread = options.label_smoothing / static_cast<double>(options.n_classes);
  for (int64_t v = 0; v < columns; ++v) {
    const double wanted = spread + (v == options.target ? 1.0 - options.label_smoothing : 0.0);
    const double log_p = logits_p[v] - row.log_sum_exp_p, log_q = logits_q[v] - row.log_sum_exp_q;
    const double p = std::exp(log_p), q = std::exp(log_q);
    logits_p[v] = options.scale_p * (p - wanted) +
                  options.divergence_scale * (p * (log_p - log_q - row.kl_pq) + options.reverse * (p - q));
    logits_q[v] = options.scale_q * (q - wanted) +
                  options.divergence_scale * (options.reverse * q * (log_q - log_p - row.kl_qp) + q - p);
  }
}

}  // namespace dragoman::kernels::reference
