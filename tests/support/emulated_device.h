#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "tensor/arena.h"

namespace dragoman::test_support {

/// The memory of the emulated device. The host may not touch it except while a kernel or a copy runs: reads and writes
/// end the program with SIGSEGV, and Tensor::data throws.
class DeviceMemory {
 public:
  static DeviceMemory& instance() {
    static DeviceMemory memory;
    return memory;
  }

  void* allocate(size_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
      if (hole->second >= bytes) {
        char* const address = hole->first;
        const size_t left = hole->second - bytes;
        holes_.erase(hole);
        if (left > 0) {
          holes_[address + bytes] = left;
        }
        blocks_[address] = bytes;
        live_ += bytes;
        peak_ = std::max(peak_, live_);
        return address;
      }
    }
    base::fail(base::ErrorKind::kRuntime, "emulated device: no memory for {} bytes", bytes);
  }

  void release(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(static_cast<char*>(block));
    live_ -= found->second;
    auto hole = holes_.insert(*found).first;
    blocks_.erase(found);
    if (const auto next = std::next(hole); next != holes_.end() && hole->first + hole->second == next->first) {
      hole->second += next->second;
      holes_.erase(next);
    }
    if (hole != holes_.begin()) {
      if (const auto before = std::prev(hole); before->first + before->second == hole->first) {
        before->second += hole->second;
        holes_.erase(hole);
      }
    }
  }

  tensor::ArenaCounters counters() {
    const std::lock_guard lock(mutex_);
    return {.system_requests = 1, .system_bytes = kBytes, .live_bytes = live_, .peak_bytes = peak_};
  }

  void open() {
    const std::lock_guard lock(mutex_);
    if (opened_++ == 0) {
      mprotect(first_, kBytes, PROT_READ | PROT_WRITE);
    }
  }

  void close() {
    const std::lock_guard lock(mutex_);
    if (--opened_ == 0) {
      mprotect(first_, kBytes, PROT_NONE);
    }
  }

 private:
  static constexpr size_t kBytes = size_t{1} << 30;

  DeviceMemory()
      : first_(
            static_cast<char*>(mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    holes_[first_] = kBytes;
  }

  std::mutex mutex_;
  char* first_;
  std::map<char*, size_t> holes_, blocks_;  // sizes by address
  size_t live_ = 0, peak_ = 0;
  int opened_ = 0;
};

/// While alive, this thread is a kernel or a copy of the device.
class [[nodiscard]] DeviceAccess {
 public:
  DeviceAccess() {
    DeviceMemory::instance().open();
    ++depth();
  }
  ~DeviceAccess() {
    --depth();
    DeviceMemory::instance().close();
  }
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;

  static bool open_here() { return depth() > 0; }

 private:
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
};

/// The allocator of the emulated device.
class EmulatedAllocator final : public tensor::Allocator {
 public:
  tensor::Device device() const override { return {tensor::DeviceKind::kEmulated, 0}; }
  std::shared_ptr<tensor::Allocator> another() const override { return std::make_shared<EmulatedAllocator>(); }
  void* allocate(size_t bytes) override { return DeviceMemory::instance().allocate(bytes); }
  void release(void* block) override { DeviceMemory::instance().release(block); }
  void reserve(size_t) override {}
  void give_back() override {}
  tensor::ArenaCounters counters() const override { return DeviceMemory::instance().counters(); }

  bool host_may_access() const override { return DeviceAccess::open_here(); }
  void copy_to_host(const void* device, size_t bytes, void* host) const override { copy(device, bytes, host); }
  void copy_from_host(const void* host, size_t bytes, void* device) const override { copy(host, bytes, device); }
  void copy_inside(const void* from, size_t bytes, void* to) const override { copy(from, bytes, to); }
  void clear(void* device, size_t bytes) const override {
    const DeviceAccess clearing;
    std::memset(device, 0, bytes);
  }

 private:
  static void copy(const void* from, size_t bytes, void* to) {
    const DeviceAccess copying;
    std::memmove(to, from, bytes);
  }
};

/// The kernels of the emulated device: those of the CPU, which may touch its memory while they run.
class EmulatedBackend final : public kernels::Backend {
 public:
  const char* name() const override { return "emulated"; }
  bool packs_weights() const override { return false; }

  void gemm(const kernels::GemmProblem& problem) const override {
    const DeviceAccess running;
    return cpu("gemm").gemm(problem);
  }
  void sum_rows_accumulate(const tensor::Tensor& rows, tensor::Tensor& sums) const override {
    const DeviceAccess running;
    return cpu("sum_rows_accumulate").sum_rows_accumulate(rows, sums);
  }
  void add_to_rows(const tensor::Tensor& row, tensor::Tensor& rows) const override {
    const DeviceAccess running;
    return cpu("add_to_rows").add_to_rows(row, rows);
  }
  void add_in_place(tensor::Tensor& sum, const tensor::Tensor& part) const override {
    const DeviceAccess running;
    return cpu("add_in_place").add_in_place(sum, part);
  }
  void map(kernels::ElementMap map, const tensor::Tensor& x, tensor::Tensor& y) const override {
    const DeviceAccess running;
    return cpu("map").map(map, x, y);
  }
  void map_pairs(kernels::PairMap map, const tensor::Tensor& left, const tensor::Tensor& right,
                 tensor::Tensor& y) const override {
    const DeviceAccess running;
    return cpu("map_pairs").map_pairs(map, left, right, y);
  }
  double sum(const tensor::Tensor& x) const override {
    const DeviceAccess running;
    return cpu("sum").sum(x);
  }
  void activation(const tensor::Tensor& x, kernels::Activation activation, const kernels::Dropout& dropout,
                  tensor::Tensor& y) const override {
    const DeviceAccess running;
    return cpu("activation").activation(x, activation, dropout, y);
  }
  void activation_backward(const tensor::Tensor& saved, const tensor::Tensor& grad_y, kernels::Activation activation,
                           const kernels::Dropout& dropout, tensor::Tensor& grad_x) const override {
    const DeviceAccess running;
    return cpu("activation_backward").activation_backward(saved, grad_y, activation, dropout, grad_x);
  }
  void gated_activation(const kernels::GatedInputs& inputs, tensor::Tensor& y) const override {
    const DeviceAccess running;
    return cpu("gated_activation").gated_activation(inputs, y);
  }
  void gated_activation_backward(const kernels::GatedInputs& inputs, const tensor::Tensor& grad_y,
                                 const kernels::GatedGradients& gradients) const override {
    const DeviceAccess running;
    return cpu("gated_activation_backward").gated_activation_backward(inputs, grad_y, gradients);
  }
  void rotate(const kernels::Rotation& rotation, tensor::Tensor& y) const override {
    const DeviceAccess running;
    return cpu("rotate").rotate(rotation, y);
  }
  void softmax(const tensor::Tensor& x, tensor::Tensor& probs) const override {
    const DeviceAccess running;
    return cpu("softmax").softmax(x, probs);
  }
  void log_softmax(const tensor::Tensor& x, tensor::Tensor& log_probs) const override {
    const DeviceAccess running;
    return cpu("log_softmax").log_softmax(x, log_probs);
  }
  void softmax_backward(const tensor::Tensor& probs, const tensor::Tensor& grad_output,
                        tensor::Tensor& grad) const override {
    const DeviceAccess running;
    return cpu("softmax_backward").softmax_backward(probs, grad_output, grad);
  }
  void log_softmax_backward(const tensor::Tensor& log_probs, const tensor::Tensor& grad_output,
                            tensor::Tensor& grad) const override {
    const DeviceAccess running;
    return cpu("log_softmax_backward").log_softmax_backward(log_probs, grad_output, grad);
  }
  void layer_norm(const kernels::LayerNormForward& norm) const override {
    const DeviceAccess running;
    return cpu("layer_norm").layer_norm(norm);
  }
  void layer_norm_backward(const kernels::LayerNormBackward& norm) const override {
    const DeviceAccess running;
    return cpu("layer_norm_backward").layer_norm_backward(norm);
  }
  void residual_dropout(const tensor::Tensor& residual, const tensor::Tensor& sublayer, const kernels::Dropout& dropout,
                        tensor::Tensor& sum) const override {
    const DeviceAccess running;
    return cpu("residual_dropout").residual_dropout(residual, sublayer, dropout, sum);
  }
  void residual_dropout_layer_norm(const tensor::Tensor& residual, const tensor::Tensor& sublayer,
                                   const kernels::Dropout& dropout, tensor::Tensor& sum,
                                   const kernels::LayerNormForward& norm) const override {
    const DeviceAccess running;
    return cpu("residual_dropout_layer_norm").residual_dropout_layer_norm(residual, sublayer, dropout, sum, norm);
  }
  void residual_dropout_layer_norm_backward(const kernels::LayerNormBackward& norm, const kernels::Dropout& dropout,
                                            tensor::Tensor& grad_sublayer) const override {
    const DeviceAccess running;
    return cpu("residual_dropout_layer_norm_backward")
        .residual_dropout_layer_norm_backward(norm, dropout, grad_sublayer);
  }
  void dropout_rows(const tensor::Tensor& x, const kernels::Dropout& dropout, tensor::Tensor& y) const override {
    const DeviceAccess running;
    return cpu("dropout_rows").dropout_rows(x, dropout, y);
  }
  void dropout_whole_rows(const tensor::Tensor& x, const kernels::Dropout& dropout, tensor::Tensor& y) const override {
    const DeviceAccess running;
    return cpu("dropout_whole_rows").dropout_whole_rows(x, dropout, y);
  }
  void gather_rows(const tensor::Tensor& table, const tensor::Tensor& ids, float scale,
                   tensor::Tensor& y) const override {
    const DeviceAccess running;
    return cpu("gather_rows").gather_rows(table, ids, scale, y);
  }
  void scatter_rows_accumulate(const tensor::Tensor& rows, const tensor::Tensor& ids, float scale,
                               tensor::Tensor& table_sum) const override {
    const DeviceAccess running;
    return cpu("scatter_rows_accumulate").scatter_rows_accumulate(rows, ids, scale, table_sum);
  }
  void rows_accumulate(const tensor::Tensor& from, tensor::Tensor& to) const override {
    const DeviceAccess running;
    return cpu("rows_accumulate").rows_accumulate(from, to);
  }
  void cross_entropy(const tensor::Tensor& logits, const tensor::Tensor& targets, float label_smoothing,
                     kernels::TokenLosses& sums) const override {
    const DeviceAccess running;
    return cpu("cross_entropy").cross_entropy(logits, targets, label_smoothing, sums);
  }
  void cross_entropy_gradient(tensor::Tensor& logits, const tensor::Tensor& targets,
                              const kernels::LossOptions& options, kernels::TokenLosses& sums) const override {
    const DeviceAccess running;
    return cpu("cross_entropy_gradient").cross_entropy_gradient(logits, targets, options, sums);
  }
  void two_pass_cross_entropy(const kernels::TwoPassBlock& block, kernels::TwoPassLosses& sums) const override {
    const DeviceAccess running;
    return cpu("two_pass_cross_entropy").two_pass_cross_entropy(block, sums);
  }
  void weighted_sum(const tensor::Tensor& terms, std::span<const double> weights, tensor::Tensor& y) const override {
    const DeviceAccess running;
    return cpu("weighted_sum").weighted_sum(terms, weights, y);
  }
  kernels::AttentionSaved attention_forward(const kernels::AttentionInputs& inputs,
                                            tensor::Tensor& context) const override {
    const DeviceAccess running;
    return cpu("attention_forward").attention_forward(inputs, context);
  }
  void attention_backward(const kernels::AttentionInputs& inputs, const kernels::AttentionSaved& saved,
                          const tensor::Tensor& grad_context, kernels::AttentionGradients& gradients) const override {
    const DeviceAccess running;
    return cpu("attention_backward").attention_backward(inputs, saved, grad_context, gradients);
  }
  void attention_weights(const kernels::AttentionInputs& inputs, tensor::Tensor& weights) const override {
    const DeviceAccess running;
    return cpu("attention_weights").attention_weights(inputs, weights);
  }
  void recurrent_cell(const kernels::RecurrentCellForward& step) const override {
    const DeviceAccess running;
    return cpu("recurrent_cell").recurrent_cell(step);
  }
  void recurrent_cell_backward(const kernels::RecurrentCellBackward& step) const override {
    const DeviceAccess running;
    return cpu("recurrent_cell_backward").recurrent_cell_backward(step);
  }
  void source_attention(const kernels::SourceAttentionForward& attention) const override {
    const DeviceAccess running;
    return cpu("source_attention").source_attention(attention);
  }
  void source_attention_backward(const kernels::SourceAttentionBackward& attention) const override {
    const DeviceAccess running;
    return cpu("source_attention_backward").source_attention_backward(attention);
  }
  void scan(const kernels::ScanForward& scan) const override {
    const DeviceAccess running;
    return cpu("scan").scan(scan);
  }
  void scan_backward(const kernels::ScanBackward& scan) const override {
    const DeviceAccess running;
    return cpu("scan_backward").scan_backward(scan);
  }
  void column_sums(const tensor::Tensor& x, const tensor::Tensor& y, tensor::Tensor& sums) const override {
    const DeviceAccess running;
    return cpu("column_sums").column_sums(x, y, sums);
  }
  void map_columns(const kernels::ColumnMap& map) const override {
    const DeviceAccess running;
    return cpu("map_columns").map_columns(map);
  }
  void mean_of_texts(const tensor::Tensor& x, std::span<const int32_t> offsets, tensor::Tensor& means) const override {
    const DeviceAccess running;
    return cpu("mean_of_texts").mean_of_texts(x, offsets, means);
  }
  void mean_of_texts_backward(const tensor::Tensor& grad_means, std::span<const int32_t> offsets,
                              tensor::Tensor& grad_x) const override {
    const DeviceAccess running;
    return cpu("mean_of_texts_backward").mean_of_texts_backward(grad_means, offsets, grad_x);
  }
  void unit_rows(const tensor::Tensor& x, tensor::Tensor& y) const override {
    const DeviceAccess running;
    return cpu("unit_rows").unit_rows(x, y);
  }
  void unit_rows_backward(const tensor::Tensor& x, const tensor::Tensor& grad_y,
                          tensor::Tensor& grad_x) const override {
    const DeviceAccess running;
    return cpu("unit_rows_backward").unit_rows_backward(x, grad_y, grad_x);
  }
  void attention_step(const tensor::Tensor& query, std::span<const kernels::StepKeys> rows, int n_heads,
                      tensor::Tensor& context, tensor::Tensor* mean_weights) const override {
    const DeviceAccess running;
    return cpu("attention_step").attention_step(query, rows, n_heads, context, mean_weights);
  }
  void attention_shared(const tensor::Tensor& query, std::span<const kernels::SharedRows> groups, int n_heads,
                        tensor::Tensor& context, tensor::Tensor* mean_weights) const override {
    const DeviceAccess running;
    return cpu("attention_shared").attention_shared(query, groups, n_heads, context, mean_weights);
  }
  kernels::SharedKeys pack_shared_keys(const tensor::Tensor& keys, const tensor::Tensor& values, int n_heads,
                                       tensor::DType dtype) const override {
    const DeviceAccess running;
    return cpu("pack_shared_keys").pack_shared_keys(keys, values, n_heads, dtype);
  }
  void store_cached_rows(const kernels::CachedRows& rows) const override {
    const DeviceAccess running;
    return cpu("store_cached_rows").store_cached_rows(rows);
  }
  void best_of_rows(const tensor::Tensor& logits, int k, kernels::BestLogits& best) const override {
    const DeviceAccess running;
    return cpu("best_of_rows").best_of_rows(logits, k, best);
  }
  double sum_of_squares(const tensor::Tensor& x) const override {
    const DeviceAccess running;
    return cpu("sum_of_squares").sum_of_squares(x);
  }
  bool all_finite(const tensor::Tensor& x) const override {
    const DeviceAccess running;
    return cpu("all_finite").all_finite(x);
  }
  void clip_factors(const tensor::Tensor& gradients, double clip_norm, tensor::Tensor& factors) const override {
    const DeviceAccess running;
    return cpu("clip_factors").clip_factors(gradients, clip_norm, factors);
  }
  void adam_update(tensor::Tensor& weights, const tensor::Tensor& grads, tensor::Tensor& moment1,
                   tensor::Tensor& moment2, const kernels::AdamScalars& scalars) const override {
    const DeviceAccess running;
    return cpu("adam_update").adam_update(weights, grads, moment1, moment2, scalars);
  }
  void ema_update(tensor::Tensor& average, const tensor::Tensor& weights, double decay) const override {
    const DeviceAccess running;
    return cpu("ema_update").ema_update(average, weights, decay);
  }

  /// Returns: the names of the kernels that have run.
  std::set<std::string> kernels_run() const {
    const std::lock_guard lock(mutex_);
    return kernels_run_;
  }

 private:
  const kernels::Backend& cpu(const char* kernel) const {
    const std::lock_guard lock(mutex_);
    kernels_run_.insert(kernel);
    return kernels::backend_of(tensor::Device(), tensor::DType::kFloat32);
  }

  mutable std::mutex mutex_;
  mutable std::set<std::string> kernels_run_;
};

/// While alive, new tensors of this thread are on the emulated device, which has its backend.
class [[nodiscard]] OnEmulatedDevice {
 public:
  OnEmulatedDevice() { kernels::set_backend(tensor::DeviceKind::kEmulated, &backend_); }
  ~OnEmulatedDevice() { kernels::set_backend(tensor::DeviceKind::kEmulated, nullptr); }
  OnEmulatedDevice(const OnEmulatedDevice&) = delete;
  OnEmulatedDevice& operator=(const OnEmulatedDevice&) = delete;

  std::set<std::string> kernels_run() const { return backend_.kernels_run(); }

 private:
  EmulatedBackend backend_;
  tensor::ArenaScope memory_{std::make_shared<EmulatedAllocator>()};
};

}  // namespace dragoman::test_support
