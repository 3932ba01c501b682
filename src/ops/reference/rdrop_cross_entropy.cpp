#include "ops/reference/rdrop_cross_entropy.h"

#include <cmath>

namespace dragoman::ops::reference {

void divergence_row(const double* logits_p, const double* logits_q, int64_t n_classes, RdropRow& row) {
  row.kl_pq = row.kl_qp = 0;
  for (int64_t v = 0; v < n_classes; ++v) {
    const double log_p = logits_p[v] - row.log_sum_exp_p, log_q = logits_q[v] - row.log_sum_exp_q;
    row.kl_pq += std::exp(log_p) * (log_p - log_q);
    row.kl_qp += std::exp(log_q) * (log_q - log_p);
  }
}

void rdrop_row_gradient(const RdropRow& row, const RdropRowGradient& options, int64_t n_classes, double* logits_p,
                        double* logits_q) {
  const double spread = options.label_smoothing / static_cast<double>(n_classes);
  for (int64_t v = 0; v < n_classes; ++v) {
    const double wanted = spread + (v == options.target ? 1.0 - options.label_smoothing : 0.0);
    const double log_p = logits_p[v] - row.log_sum_exp_p, log_q = logits_q[v] - row.log_sum_exp_q;
    const double p = std::exp(log_p), q = std::exp(log_q);
    logits_p[v] = options.cross_entropy_scale * (p - wanted) +
                  options.divergence_scale * (p * (log_p - log_q - row.kl_pq) + p - q);
    logits_q[v] = options.cross_entropy_scale * (q - wanted) +
                  options.divergence_scale * (q * (log_q - log_p - row.kl_qp) + q - p);
  }
}

}  // namespace dragoman::ops::reference
