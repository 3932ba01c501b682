#include "kernels/reference/reference_backend.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "kernels/clipped_scalars.h"
#include "kernels/reference/attention.h"
#include "kernels/reference/gemm.h"

namespace dragoman::kernels::reference {
namespace {

[[noreturn]] void refuse(const char* kernel) {
  base::fail(base::ErrorKind::kRuntime, "reference: {} does not exist in float64; use float32", kernel);
}

// c = bias in each row, or zeros.
void start_exact_rows(const Tensor* bias, Tensor& c) {
  for (int64_t row = 0; row < c.dim(0); ++row) {
    double* to = c.data<double>() + row * c.stride(0);
    if (bias != nullptr) {
      std::copy_n(bias->data<double>(), c.dim(1), to);
    } else {
      std::fill_n(to, c.dim(1), 0.0);
    }
  }
}

double map_element(ElementMap map, double a) {
  return map == ElementMap::kNegate ? -a : std::exp(a);
}

double map_pair(PairMap map, double a, double b) {
  switch (map) {
    case PairMap::kAdd:
      return a + b;
    case PairMap::kSubtract:
      return a - b;
    case PairMap::kMultiply:
      return a * b;
    case PairMap::kTwiceProduct:
      return 2 * b * a;
  }
  return 0;
}

}  // namespace

const char* ReferenceBackend::name() const {
  return "reference";
}

bool ReferenceBackend::packs_weights() const {
  return false;
}

void ReferenceBackend::gemm(const GemmProblem& problem) const {
  if (!problem.accumulate) {
    start_exact_rows(problem.bias, problem.c);
  }
  gemm_accumulate(problem.a, problem.transpose_a, problem.b, problem.transpose_b, problem.c);
}

void ReferenceBackend::sum_rows_accumulate(const Tensor& rows, Tensor& sums) const {
  for (int64_t n = 0; n < rows.dim(0); ++n) {
    const double* row = rows.data<double>() + n * rows.stride(0);
    std::ranges::transform(sums.span<double>(), std::span(row, static_cast<size_t>(rows.dim(1))), sums.data<double>(),
                           std::plus<>());
  }
}

void ReferenceBackend::add_in_place(Tensor& sum, const Tensor& part) const {
  std::ranges::transform(sum.span<double>(), part.span<double>(), sum.data<double>(), std::plus<>());
}

void ReferenceBackend::map(ElementMap map, const Tensor& x, Tensor& y) const {
  std::ranges::transform(x.span<double>(), y.data<double>(), [map](double a) { return map_element(map, a); });
}

void ReferenceBackend::map_pairs(PairMap map, const Tensor& left, const Tensor& right, Tensor& y) const {
  const double *a = left.data<double>(), *b = right.data<double>();
  const int64_t a_step = left.size() == 1 ? 0 : 1, b_step = right.size() == 1 ? 0 : 1;
  for (int64_t i = 0; i < y.size(); ++i) {
    y.data<double>()[i] = map_pair(map, a[i * a_step], b[i * b_step]);
  }
}

double ReferenceBackend::sum(const Tensor& x) const {
  double sum = 0;
  for (const double element : x.span<double>()) {
    sum += element;
  }
  return sum;
}

AttentionSaved ReferenceBackend::attention_forward(const AttentionInputs& inputs, Tensor& context) const {
  reference::attention_forward(inputs, context);
  return {};
}

void ReferenceBackend::attention_backward(const AttentionInputs& inputs, const AttentionSaved&,
                                          const Tensor& grad_context, AttentionGradients& gradients) const {
  reference::attention_backward(inputs, grad_context, gradients);
}

void ReferenceBackend::attention_weights(const AttentionInputs& inputs, Tensor& weights) const {
  attention_weights_forward(inputs, weights);
}

void ReferenceBackend::attention_step(const Tensor&, std::span<const StepKeys>, int, Tensor&, Tensor*) const {
  refuse("attention_step");
}

void ReferenceBackend::attention_shared(const Tensor&, std::span<const SharedRows>, int, Tensor&, Tensor*) const {
  refuse("attention_shared");
}

SharedKeys ReferenceBackend::pack_shared_keys(const Tensor&, const Tensor&, int, DType) const {
  refuse("pack_shared_keys");
}

void ReferenceBackend::store_cached_rows(const CachedRows&) const {
  refuse("store_cached_rows");
}

void ReferenceBackend::best_of_rows(const Tensor&, int, BestLogits&) const {
  refuse("best_of_rows");
}

double ReferenceBackend::sum_of_squares(const Tensor& x) const {
  double sum = 0;
  for (const double element : x.span<double>()) {
    sum += element * element;
  }
  return sum;
}

bool ReferenceBackend::all_finite(const Tensor& x) const {
  return std::ranges::all_of(x.span<double>(), [](double element) { return std::isfinite(element); });
}

void ReferenceBackend::clip_factors(const Tensor& gradients, double clip_norm, Tensor& factors) const {
  const double norm = std::sqrt(sum_of_squares(gradients));
  factors.data<double>()[0] = clip_factor(norm, clip_norm);
  factors.data<double>()[1] = norm;
}

// Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019, algorithm 2.
void ReferenceBackend::adam_update(Tensor& weights, const Tensor& grads, Tensor& moment1, Tensor& moment2,
                                   const AdamScalars& given) const {
  const std::optional<AdamScalars> with_factor = clipped(given);
  if (!with_factor) {
    return;
  }
  const AdamScalars& scalars = *with_factor;
  const auto step = static_cast<double>(scalars.step);
  const double unbias1 = 1 - std::pow(scalars.beta1, step), unbias2 = 1 - std::pow(scalars.beta2, step);
  const std::span<double> w = weights.span<double>(), m = moment1.span<double>(), v = moment2.span<double>();
  for (size_t i = 0; i < w.size(); ++i) {
    const double g = scalars.gradient_scale * grads.span<double>()[i];
    m[i] = scalars.beta1 * m[i] + (1 - scalars.beta1) * g;
    v[i] = scalars.beta2 * v[i] + (1 - scalars.beta2) * g * g;
    w[i] -= scalars.learning_rate *
            (m[i] / unbias1 / (std::sqrt(v[i] / unbias2) + scalars.epsilon) + scalars.weight_decay * w[i]);
  }
}

void ReferenceBackend::ema_update(Tensor& average, const Tensor& weights, double decay) const {
  std::ranges::transform(average.span<double>(), weights.span<double>(), average.data<double>(),
                         [decay](double a, double w) { return a + (1 - decay) * (w - a); });
}

}  // namespace dragoman::kernels::reference
