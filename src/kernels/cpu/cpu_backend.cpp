#include "kernels/cpu/cpu_backend.h"

#include <algorithm>
#include <cmath>

#include "kernels/clipped_scalars.h"
#include "kernels/cpu/attention/attention_cpu.h"
#include "kernels/cpu/gemm/gemm_cpu.h"
#include "kernels/cpu/simd/vector_math.h"

namespace dragoman::kernels {
namespace {

using tensor::BFloat16;

// c = bias in each row, or zeros.
void start_rows(const Tensor* bias, Tensor& c) {
  for (int64_t row = 0; row < c.dim(0); ++row) {
    float* to = c.data<float>() + row * c.stride(0);
    if (bias != nullptr) {
      std::copy_n(bias->data<float>(), c.dim(1), to);
    } else {
      std::fill_n(to, c.dim(1), 0.0F);
    }
  }
}

template <typename Element>
void sum_rows(const Tensor& rows, Tensor& sums) {
  const std::span<float> to = sums.span<float>();
  const auto* from = rows.data<Element>();
  for (int64_t row = 0; row < rows.dim(0); ++row) {
    kernels::add_in_place(to, std::span(from + row * rows.stride(0), to.size()));
  }
}

// sum += part. Runs of a fixed length, so that the compiler makes vector instructions of them.
void add_floats(float* __restrict sum, const float* __restrict part, int64_t size) {
  constexpr int64_t kRun = 16;
  const int64_t in_runs = size - size % kRun;
  for (int64_t begin = 0; begin < in_runs; begin += kRun) {
    for (int64_t index = 0; index < kRun; ++index) {
      sum[begin + index] += part[begin + index];
    }
  }
  for (int64_t index = in_runs; index < size; ++index) {
    sum[index] += part[index];
  }
}

// In float32; each sum is rounded.
void add_bfloat16(std::span<BFloat16> sum, std::span<const BFloat16> part) {
  std::ranges::transform(sum, part, sum.data(), [](BFloat16 a, BFloat16 b) {
    return tensor::to_bfloat16(tensor::to_float(a) + tensor::to_float(b));
  });
}

template <typename F>
void map_floats(const Tensor& x, Tensor& y, F f) {
  std::ranges::transform(x.span<float>(), y.data<float>(), f);
}

template <typename F>
void map_float_pairs(const Tensor& left, const Tensor& right, Tensor& y, F f) {
  const float *a = left.data<float>(), *b = right.data<float>();
  const int64_t a_step = left.size() == 1 ? 0 : 1, b_step = right.size() == 1 ? 0 : 1;
  float* to = y.data<float>();
  for (int64_t i = 0; i < y.size(); ++i) {
    to[i] = f(a[i * a_step], b[i * b_step]);
  }
}

}  // namespace

const char* CpuBackend::name() const {
  return "cpu";
}

bool CpuBackend::packs_weights() const {
  return true;
}

void CpuBackend::gemm(const GemmProblem& problem) const {
  const GemmArguments arguments{
      .a = StoredOperand::of(problem.a, problem.a_transposed()),
      .b = StoredOperand::of(problem.b, problem.b_transposed()),
      .c = problem.c.data<float>(),
      .c_stride = problem.c.stride(0),
      .rows = problem.c.dim(0),
      .columns = problem.c.dim(1),
      .depth = problem.depth(),
      .bias = problem.bias == nullptr ? nullptr : problem.bias->data<float>(),
      .kernel = product_kernel(problem.precision),
  };
  if (arguments.depth > 0) {
    if (problem.accumulate) {
      gemm_kernel_accumulate(arguments);
    } else {
      gemm_kernel(arguments);
    }
  } else if (!problem.accumulate) {
    start_rows(problem.bias, problem.c);
  }
}

void CpuBackend::sum_rows_accumulate(const Tensor& rows, Tensor& sums) const {
  if (is_bfloat16(rows)) {
    sum_rows<BFloat16>(rows, sums);
  } else {
    sum_rows<float>(rows, sums);
  }
}

void CpuBackend::add_in_place(Tensor& sum, const Tensor& part) const {
  if (is_bfloat16(sum)) {
    add_bfloat16(sum.span<BFloat16>(), part.span<BFloat16>());
  } else {
    add_floats(sum.data<float>(), part.data<float>(), sum.size());
  }
}

void CpuBackend::map(ElementMap map, const Tensor& x, Tensor& y) const {
  switch (map) {
    case ElementMap::kNegate:
      return map_floats(x, y, [](float a) { return -a; });
    case ElementMap::kExp:
      return map_floats(x, y, [](float a) { return std::exp(a); });
  }
}

void CpuBackend::map_pairs(PairMap map, const Tensor& left, const Tensor& right, Tensor& y) const {
  switch (map) {
    case PairMap::kAdd:
      return map_float_pairs(left, right, y, [](float a, float b) { return a + b; });
    case PairMap::kSubtract:
      return map_float_pairs(left, right, y, [](float a, float b) { return a - b; });
    case PairMap::kMultiply:
      return map_float_pairs(left, right, y, [](float a, float b) { return a * b; });
    case PairMap::kTwiceProduct:
      return map_float_pairs(left, right, y, [](float a, float b) { return 2 * b * a; });
  }
}

double CpuBackend::sum(const Tensor& x) const {
  double sum = 0;
  for (const float element : x.span<float>()) {
    sum += static_cast<double>(element);
  }
  return sum;
}

AttentionSaved CpuBackend::attention_forward(const AttentionInputs& inputs, Tensor& context) const {
  Tensor stats = Tensor::empty({2, inputs.n_heads(), inputs.query.dim(0)});  // [2, H, Nq]
  kernels::attention_forward(inputs, context, stats);
  return {stats};
}

void CpuBackend::attention_backward(const AttentionInputs& inputs, const AttentionSaved& saved,
                                    const Tensor& grad_context, AttentionGradients& gradients) const {
  kernels::attention_backward(inputs, saved.stats, grad_context, gradients);
}

void CpuBackend::attention_weights(const AttentionInputs& inputs, Tensor& weights) const {
  attention_weights_forward(inputs, weights);
}

double CpuBackend::sum_of_squares(const Tensor& x) const {
  return kernels::sum_of_squares(x.span<float>());
}

bool CpuBackend::all_finite(const Tensor& x) const {
  return kernels::all_finite(x.span<float>());
}

void CpuBackend::clip_factors(const Tensor& gradients, double clip_norm, Tensor& factors) const {
  const double norm = std::sqrt(sum_of_squares(gradients));
  factors.data<double>()[0] = clip_factor(norm, clip_norm);
  factors.data<double>()[1] = norm;
}

void CpuBackend::adam_update(Tensor& weights, const Tensor& grads, Tensor& moment1, Tensor& moment2,
                             const AdamScalars& scalars) const {
  if (const std::optional<AdamScalars> with_factor = clipped(scalars)) {
    kernels::adam_update(weights.span<float>(), grads.span<float>(), moment1.span<float>(), moment2.span<float>(),
                         *with_factor);
  }
}

void CpuBackend::ema_update(Tensor& average, const Tensor& weights, double decay) const {
  kernels::ema_update(average.span<float>(), weights.span<float>(), decay);
}

}  // namespace dragoman::kernels
