#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cpu/attention/attention_shared.h"
#include "kernels/cpu/attention/attention_step.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/output/best_logits.h"

namespace dragoman::kernels {
namespace {

// Writes a key, then a value, at `to`; `scales` [H] is scratch for int8.
void store_row(const float* key, const float* value, const CachedRows& rows, int64_t row, std::span<float> scales) {
  const DType dtype = rows.cache.dtype();
  const int64_t width = rows.keys.dim(1), half = cached_row_elements(width, rows.n_heads, dtype);
  if (dtype == DType::kInt8) {
    int8_t* to = rows.cache.data<int8_t>() + row * 2 * half;
    for (const float* from : {key, value}) {
      quantise_heads(from, rows.n_heads, width / rows.n_heads, to, scales.data());
      std::memcpy(to + width, scales.data(), scales.size_bytes());
      to += half;
    }
  } else if (dtype == DType::kBFloat16) {
    auto* to = rows.cache.data<tensor::BFloat16>() + row * 2 * half;
    round_row(key, width, to);
    round_row(value, width, to + half);
  } else {
    float* to = rows.cache.data<float>() + row * 2 * half;
    std::copy_n(key, width, to);
    std::copy_n(value, width, to + half);
  }
}

}  // namespace

void CpuBackend::attention_step(const Tensor& query, std::span<const StepKeys> rows, int n_heads, Tensor& context,
                                Tensor* mean_weights) const {
  kernels::attention_step(query, rows, n_heads, context, mean_weights);
}

void CpuBackend::attention_shared(const Tensor& query, std::span<const SharedRows> groups, int n_heads, Tensor& context,
                                  Tensor* mean_weights) const {
  kernels::attention_shared(query, groups, n_heads, context, mean_weights);
}

SharedKeys CpuBackend::pack_shared_keys(const Tensor& keys, const Tensor& values, int n_heads, DType dtype) const {
  return kernels::pack_shared_keys(keys, values, n_heads, dtype);
}

void CpuBackend::store_cached_rows(const CachedRows& rows) const {
  const bool scaled = rows.cache.dtype() == DType::kInt8;
  std::vector<float> scales(scaled ? static_cast<size_t>(rows.n_heads) : 0);
  const float *key = rows.keys.data<float>(), *value = rows.values.data<float>();
  for (const int32_t row : rows.rows.span<int32_t>()) {
    if (row >= 0) {
      store_row(key, value, rows, row, scales);
    }
    key += rows.keys.stride(0);
    value += rows.values.stride(0);
  }
}

void CpuBackend::best_of_rows(const Tensor& logits, int k, BestLogits& best) const {
  kernels::best_of_rows(logits, k, best);
}

}  // namespace dragoman::kernels
