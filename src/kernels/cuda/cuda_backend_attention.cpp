#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "kernels/cpu/output/best_logits.h"
#include "kernels/cuda/attention_kernels.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_arrays.h"
#include "kernels/cuda/losses.h"
#include "kernels/cuda/recording.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/sentence_tiles.h"
#include "tensor/transfer.h"

namespace dragoman::kernels::cuda {
namespace {

[[noreturn]] void refuse(const char* kernel, const char* what) {
  base::fail(base::ErrorKind::kRuntime, "cuda: {} does not exist for {} yet; use float32", kernel, what);
}

void check_head(const char* op, int64_t columns) {
  base::check_argument(columns <= kWidestHead, "{}: heads of {} columns, must be at most {} on cuda; take more heads",
                       op, columns, kWidestHead);
}

void check_heads(const char* op, const AttentionInputs& inputs) {
  check_head(op, inputs.d_head());
  check_head(op, inputs.d_value());
}

// The window as kernels take it: one that is longer than all sentences is none.
int window_of(const AttentionInputs& inputs) {
  return inputs.options.window >= inputs.query.dim(0) ? 0 : static_cast<int>(inputs.options.window);
}

// The inputs of attention as kernels take them, with offsets and mask in device memory.
class DeviceInputs {
 public:
  DeviceInputs(const char* op, const AttentionInputs& inputs, float* stats)
      : query_offsets_(inputs.bounds.query_offsets), key_offsets_(inputs.bounds.key_offsets) {
    check_heads(op, inputs);
    if (inputs.bounds.key_mask.defined()) {
      key_mask_.emplace(inputs.bounds.key_mask);
    }
    const int64_t n_queries = inputs.query.dim(0);
    attention_ = {
        any_matrix_of(inputs.query),
        any_matrix_of(inputs.key),
        inputs.value.defined() ? any_matrix_of(inputs.value) : AnyMatrix(),
        query_offsets_.data(),
        key_offsets_.data(),
        key_mask_ ? key_mask_->data() : nullptr,
        static_cast<int>(inputs.n_heads()),
        static_cast<int>(inputs.group()),
        static_cast<int>(inputs.d_head()),
        static_cast<int>(inputs.d_value()),
        inputs.options.causal,
        window_of(inputs),
        inputs.options.scale > 0 ? inputs.options.scale : 1.0F / std::sqrt(static_cast<float>(inputs.d_head())),
        inputs.distance_bias.defined() ? elements_of<float>(inputs.distance_bias) : nullptr,
        inputs.distance_bias.defined() ? static_cast<int>(inputs.reach()) : 0,
        mask_of(weight_dropout(inputs.options)),
        n_queries,
        stats,
        stats == nullptr ? nullptr : stats + inputs.n_heads() * n_queries};
  }
  const Attention& get() const { return attention_; }

 private:
  OnDevice<int32_t> query_offsets_, key_offsets_;
  std::optional<OnDevice<bool>> key_mask_;
  Attention attention_;
};

// What a decoding step has of its query rows.
struct StepRows {
  std::vector<StepRow> rows;
  std::vector<int32_t> tables;
};

// The parts of a step that do not depend on where its keys are.
class StepCall {
 public:
  StepCall(const char* op, const Tensor& query, int n_heads, int n_kv_heads, DType cached, Tensor& context,
           Tensor* mean_weights)
      : stats_(mean_weights == nullptr ? 0 : 2 * query.dim(0) * n_heads) {
    const int64_t d_head = query.dim(1) / n_heads, d_value = context.dim(1) / n_heads;
    check_head(op, d_head);
    check_head(op, d_value);
    if (cached == DType::kInt8) {
      refuse(op, "an int8 cache");
    }
    step.query = matrix_of<float>(query);
    step.context = any_matrix_of(context);
    step.count = query.dim(0);
    step.heads = n_heads;
    step.key_heads = n_kv_heads;
    step.d_head = static_cast<int>(d_head);
    step.d_value = static_cast<int>(d_value);
    step.cached_bfloat16 = cached == DType::kBFloat16;
    if (mean_weights != nullptr) {
      step.stats = stats_.data();
      step.mean_weights = matrix_of<float>(*mean_weights);
      step.longest = mean_weights->dim(1);
    }
  }

  AttentionStep step{};

 private:
  DeviceArray<float> stats_;
};

// Rows of a step take their biases from one table, each as many columns as it has keys, up to the last.
void add_bias(std::span<const StepKeys> rows, AttentionStep& step) {
  for (const StepKeys& row : rows) {
    const float* const end = row.bias == nullptr ? nullptr : row.bias + row.length;
    base::check_argument(&row == rows.data() || (end == step.bias_end && row.bias_stride == step.bias_stride),
                         "attention_step: row {} has its bias in another table than row 0", &row - rows.data());
    step.bias_end = end;
    step.bias_stride = row.bias_stride;
  }
}

void run_step(StepCall& call, const StepRows& steps) {
  const DeviceArray<StepRow> rows{std::span<const StepRow>(steps.rows)};
  const DeviceArray<int32_t> tables{std::span<const int32_t>(steps.tables)};
  call.step.rows = rows.data();
  call.step.tables = tables.data();
  cuda::attention_step(call.step);
}

}  // namespace

AttentionSaved CudaBackend::attention_forward(const AttentionInputs& inputs, Tensor& context) const {
  Tensor stats = Tensor::empty({2, inputs.n_heads(), inputs.query.dim(0)});  // [2, H, Nq]
  const DeviceInputs device("attention", inputs, elements_of<float>(stats));
  const Tensor& offsets = inputs.bounds.query_offsets;
  const auto tiles = forward_tiles_of(offsets);
  const AnyMatrix result = any_matrix_of(context);
  cuda::attention_forward(device.get(), tiles->of(takes_long_tiles(device.get(), result)), result);
  return {stats, context};
}

void CudaBackend::attention_backward(const AttentionInputs& inputs, const AttentionSaved& saved,
                                     const Tensor& grad_context, AttentionGradients& gradients) const {
  const DeviceInputs device("attention", inputs, elements_of<float>(saved.stats));
  const DeviceArray<float> mean(inputs.n_heads() * inputs.query.dim(0));
  AttentionGrads grads{any_matrix_of(saved.context),
                       any_matrix_of(grad_context),
                       any_matrix_of(gradients.query),
                       any_matrix_of(gradients.key),
                       any_matrix_of(gradients.value),
                       mean.data(),
                       nullptr,
                       nullptr,
                       0};
  const BackwardKinds kinds{fits_short_attention(device.get(), grads), takes_long_tiles(device.get(), grads)};
  const auto tiles = backward_tiles_of(inputs.bounds, kinds);
  attention_backward_of_short(device.get(), tiles->of_short(), grads);
  const bool biased = inputs.distance_bias.defined();
  const DeviceArray<float> parts(biased ? tiles->of_queries().usual.count * inputs.n_heads() * bias_part(inputs.reach())
                                        : 0);
  if (biased) {
    grads.bias = elements_of<float>(gradients.distance_bias);
    grads.bias_parts = parts.data();
    grads.part = bias_part(inputs.reach());
  }
  cuda::attention_backward(device.get(), tiles->of_queries(), tiles->of_keys(), grads);
}

void CudaBackend::attention_weights(const AttentionInputs& inputs, Tensor& weights) const {
  const DeviceInputs device("attention_weights", inputs, nullptr);
  cuda::attention_weights(device.get(), inputs.key.dim(0), elements_of<float>(weights));
}

void CudaBackend::attention_step(const Tensor& query, std::span<const StepKeys> rows, int n_heads, Tensor& context,
                                 Tensor* mean_weights) const {
  StepRows steps;
  for (const StepKeys& row : rows) {
    int32_t table = -1;
    if (row.row_of_position != nullptr) {
      table = static_cast<int32_t>(steps.tables.size());
      steps.tables.insert(steps.tables.end(), row.row_of_position, row.row_of_position + row.length);
    }
    steps.rows.push_back({row.keys, row.values, row.stride, static_cast<int32_t>(row.length), table});
  }
  const DType cached = rows.empty() ? DType::kFloat32 : rows.front().dtype;
  const int of_keys = rows.empty() ? 0 : rows.front().n_kv_heads;
  StepCall call("attention_step", query, n_heads, of_keys == 0 ? n_heads : of_keys, cached, context, mean_weights);
  add_bias(rows, call.step);
  run_step(call, steps);
}

void CudaBackend::attention_shared(const Tensor& query, std::span<const SharedRows> groups, int n_heads,
                                   Tensor& context, Tensor* mean_weights) const {
  StepRows steps;
  for (const SharedRows& group : groups) {
    const SharedKeys& keys = *group.keys;
    const StepRow row{keys.keys.device_data(), keys.values.device_data(), keys.keys.stride(0),
                      static_cast<int32_t>(keys.length), -1};
    steps.rows.insert(steps.rows.end(), static_cast<size_t>(group.rows), row);
  }
  StepCall call("attention_shared", query, n_heads, n_heads, DType::kFloat32, context, mean_weights);
  run_step(call, steps);
}

void CudaBackend::attention_over_cache(const Tensor& query, const CachedHistories& histories, int n_heads,
                                       Tensor& context, Tensor* mean_weights) const {
  const Tensor& cache = histories.cache;
  StepCall call("attention_over_cache", query, n_heads, histories.n_kv_heads, cache.dtype(), context, mean_weights);
  const auto half_row = static_cast<size_t>(cache.dim(1) / 2) * tensor::dtype_bytes(cache.dtype());
  call.step.keys = cache.device_data();
  call.step.values = static_cast<const char*>(cache.device_data()) + half_row;
  call.step.stride = cache.stride(0);
  call.step.lengths = elements_of<int32_t>(histories.lengths);
  call.step.begins = elements_of<int32_t>(histories.begins);
  call.step.tables = elements_of<int32_t>(histories.numbers);
  if (const Tensor& bias = histories.bias; bias.defined()) {
    call.step.bias_end = elements_of<float>(bias) + bias.dim(1);
    call.step.bias_stride = bias.dim(1);
  }
  cuda::attention_step(call.step);
}

SharedKeys CudaBackend::pack_shared_keys(const Tensor& keys, const Tensor& values, int, DType dtype) const {
  if (dtype != DType::kFloat32) {
    refuse("pack_shared_keys", "bfloat16 or int8 keys");
  }
  base::check_argument(keys.stride(0) == values.stride(0) || keys.dim(0) <= 1,
                       "pack_shared_keys: rows of keys are {} elements apart and rows of values {}; must be equal",
                       keys.stride(0), values.stride(0));
  return {keys, values, keys.dim(0), {}, {}};
}

void CudaBackend::store_cached_rows(const CachedRows& rows) const {
  if (rows.cache.dtype() == DType::kInt8) {
    refuse("store_cached_rows", "an int8 cache");
  }
  const OnDevice<int32_t> numbers(rows.rows);
  cuda::store_cached_rows({matrix_of<float>(rows.keys), matrix_of<float>(rows.values), numbers.data(), rows.rows.size(),
                           rows.keys.dim(1), any_matrix_of(rows.cache)});
}

void CudaBackend::best_of_rows(const Tensor& logits, int k, BestLogits& best) const {
  const int64_t rows = logits.dim(0);
  const int count = static_cast<int>(std::min<int64_t>(k, logits.dim(1)));
  best.resize(rows, count);
  if (rows == 0) {
    return;
  }
  // One array, so that the host waits once: log-sum-exps, values, then ids.
  const auto of_rows = static_cast<size_t>(rows), length = static_cast<size_t>(count), values = of_rows * length;
  const DeviceArray<double> found(rows + rows * count);
  auto* const numbers = reinterpret_cast<float*>(found.data() + rows);
  cuda::best_of_rows({matrix_of<float>(logits), extent_of(logits), count, numbers,
                      reinterpret_cast<int32_t*>(numbers + values), found.data()});
  std::vector<double> read(of_rows + values);
  found.read(read);
  std::vector<float> host_values(values);
  std::vector<int32_t> host_ids(values);
  std::memcpy(host_values.data(), read.data() + of_rows, values * sizeof(float));
  std::memcpy(host_ids.data(), reinterpret_cast<const float*>(read.data() + of_rows) + values,
              values * sizeof(int32_t));
  for (size_t row = 0; row < of_rows; ++row) {
    const size_t first = row * length;
    best.set_row(
        row, {std::span(host_values).subspan(first, length), std::span(host_ids).subspan(first, length), read[row]});
  }
}

std::function<void()> CudaBackend::record(const std::function<void()>& work) const {
  if (waits_for_each_kernel()) {
    return Backend::record(work);
  }
  const auto scratch = std::make_shared<CudaAllocator>();
  std::function<void()> replay;
  {
    const ScratchScope scope(*scratch);
    Recording recording;
    work();
    replay = recording.finish();
  }
  replay();
  return [scratch, replay] { replay(); };
}

}  // namespace dragoman::kernels::cuda
