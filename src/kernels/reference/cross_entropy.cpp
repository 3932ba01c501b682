#include "kernels/reference/cross_entropy.h"

#include <algorithm>
#include <cmath>

namespace dragoman::kernels::reference {

RowLoss cross_entropy_row(const double* logits, int64_t n_classes, int32_t target, float label_smoothing) {
  const double* largest = std::max_element(logits, logits + n_classes);  // the first of equals
  double sum_of_exp = 0, sum = 0;
  for (int64_t v = 0; v < n_classes; ++v) {
    sum_of_exp += std::exp(logits[v] - *largest);
    sum += logits[v];
  }
  RowLoss loss;
  loss.log_sum_exp = *largest + std::log(sum_of_exp);
  loss.nll = loss.log_sum_exp - logits[target];
  const double mean_nll = loss.log_sum_exp - sum / static_cast<double>(n_classes);
  loss.smoothed = (1.0 - label_smoothing) * loss.nll + label_smoothing * mean_nll;
  loss.correct = largest - logits == target;
  return loss;
}

RowLoss cross_entropy_row_gradient(double* logits, int64_t n_classes, int32_t target, const LossOptions& options) {
  const RowLoss loss = cross_entropy_row(logits, n_classes, target, options.label_smoothing);
  const double spread = options.label_smoothing / static_cast<double>(n_classes);
  for (int64_t v = 0; v < n_classes; ++v) {
    const double wanted = spread + (v == target ? 1.0 - options.label_smoothing : 0.0);
    // undoes smoothed = log_sum_exp - sum_v wanted[v] * logits[v]
    logits[v] = options.gradient_scale * (std::exp(logits[v] - loss.log_sum_exp) - wanted);
  }
  return loss;
}

}  // namespace dragoman::kernels::reference
