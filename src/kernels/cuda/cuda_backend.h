#pragma once

#include <memory>

#include "kernels/backend.h"

namespace dragoman::kernels::cuda {

class CublasLt;
struct Product;

/// The kernels of an NVIDIA GPU in float32 and bfloat16. Products add up in float32, those with weights in int8 in
/// int32. Kernels run one after another in one stream, so nothing waits except what gives a number back to the host.
/// All sums have a fixed order: equal calls give equal bits. Throws: Error, "cuda: attention_step does not exist for an
/// int8 cache yet; use float32", for what is not there yet.
class CudaBackend final : public Backend {
 public:
  /// Throws: Error if cuBLASLt is missing; see CublasLt.
  CudaBackend();
  ~CudaBackend() override;

  const char* name() const override { return "cuda"; }
  bool packs_weights() const override { return false; }
  bool multiplies_in(Precision) const override { return true; }
  bool multiplies_with_relu() const override { return true; }
  int64_t rows_of_logits() const override { return 4096; }
  std::string new_device_group() const override;
  std::string device_place() const override;
  std::unique_ptr<DeviceMessages> join_device_group(const std::string& group, int rank, int size) const override;
  void gemm(const GemmProblem& problem) const override;
  void multiply_int8(const Tensor& x, std::span<const Int8Product> products) const override;
  void gather_int8_rows(const Int8Weight& table, const Tensor& ids, float scale, Tensor& y) const override;
  void sum_rows_accumulate(const Tensor& rows, Tensor& sums) const override;
  void add_to_rows(const Tensor& row, Tensor& rows) const override;
  void add_in_place(Tensor& sum, const Tensor& part) const override;
  void map(ElementMap map, const Tensor& x, Tensor& y) const override;
  void fill(double value, Tensor& y) const override;
  void map_pairs(PairMap map, const Tensor& left, const Tensor& right, Tensor& y) const override;
  double sum(const Tensor& x) const override;
  void activation(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y) const override;
  void activation_backward(const Tensor& saved, const Tensor& grad_y, Activation activation, const Dropout& dropout,
                           Tensor& grad_x) const override;
  void gated_activation(const GatedInputs& inputs, Tensor& y) const override;
  void gated_activation_backward(const GatedInputs& inputs, const Tensor& grad_y,
                                 const GatedGradients& gradients) const override;
  void rotate(const Rotation& rotation, Tensor& y) const override;
  void softmax(const Tensor& x, Tensor& probs) const override;
  void log_softmax(const Tensor& x, Tensor& log_probs) const override;
  void softmax_backward(const Tensor& probs, const Tensor& grad_output, Tensor& grad) const override;
  void log_softmax_backward(const Tensor& log_probs, const Tensor& grad_output, Tensor& grad) const override;
  void layer_norm(const LayerNormForward& norm) const override;
  void layer_norm_backward(const LayerNormBackward& norm) const override;
  void residual_dropout(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                        Tensor& sum) const override;
  void residual_dropout_layer_norm(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum,
                                   const LayerNormForward& norm) const override;
  void residual_dropout_layer_norm_backward(const LayerNormBackward& norm, const Dropout& dropout,
                                            Tensor& grad_sublayer) const override;
  void dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y) const override;
  void dropout_whole_rows(const Tensor& x, const Dropout& dropout, Tensor& y) const override;
  void gather_rows(const Tensor& table, const Tensor& ids, float scale, Tensor& y) const override;
  void scatter_rows_accumulate(const Tensor& rows, const Tensor& ids, float scale, Tensor& table_sum) const override;
  void rows_accumulate(const Tensor& from, Tensor& to) const override;
  void cross_entropy(const Tensor& logits, const Tensor& targets, float label_smoothing,
                     TokenLosses& sums) const override;
  void cross_entropy_gradient(Tensor& logits, const Tensor& targets, const LossOptions& options,
                              TokenLosses& sums) const override;
  void two_pass_cross_entropy(const TwoPassBlock& block, TwoPassLosses& sums) const override;
  void weighted_sum(const Tensor& terms, std::span<const double> weights, Tensor& y) const override;
  AttentionSaved attention_forward(const AttentionInputs& inputs, Tensor& context) const override;
  void attention_backward(const AttentionInputs& inputs, const AttentionSaved& saved, const Tensor& grad_context,
                          AttentionGradients& gradients) const override;
  void attention_weights(const AttentionInputs& inputs, Tensor& weights) const override;
  void recurrent_cell(const RecurrentCellForward& step) const override;
  void recurrent_cell_backward(const RecurrentCellBackward& step) const override;
  void source_attention(const SourceAttentionForward& attention) const override;
  void source_attention_backward(const SourceAttentionBackward& attention) const override;
  void scan(const ScanForward& scan) const override;
  void scan_backward(const ScanBackward& scan) const override;
  void column_sums(const Tensor& x, const Tensor& y, Tensor& sums) const override;
  void map_columns(const ColumnMap& map) const override;
  void mean_of_texts(const Tensor& x, std::span<const int32_t> offsets, Tensor& means) const override;
  void mean_of_texts_backward(const Tensor& grad_means, std::span<const int32_t> offsets,
                              Tensor& grad_x) const override;
  void unit_rows(const Tensor& x, Tensor& y) const override;
  void unit_rows_backward(const Tensor& x, const Tensor& grad_y, Tensor& grad_x) const override;
  void attention_step(const Tensor& query, std::span<const StepKeys> rows, int n_heads, Tensor& context,
                      Tensor* mean_weights) const override;
  void attention_shared(const Tensor& query, std::span<const SharedRows> groups, int n_heads, Tensor& context,
                        Tensor* mean_weights) const override;
  SharedKeys pack_shared_keys(const Tensor& keys, const Tensor& values, int n_heads, DType dtype) const override;
  bool reads_tables() const override { return true; }
  void attention_over_cache(const Tensor& query, const CachedHistories& histories, int n_heads, Tensor& context,
                            Tensor* mean_weights) const override;
  std::function<void()> record(const std::function<void()>& work) const override;
  void store_cached_rows(const CachedRows& rows) const override;
  void best_of_rows(const Tensor& logits, int k, BestLogits& best) const override;
  double sum_of_squares(const Tensor& x) const override;
  bool all_finite(const Tensor& x) const override;
  void clip_factors(const Tensor& gradients, double clip_norm, Tensor& factors) const override;
  void adam_update(Tensor& weights, const Tensor& grads, Tensor& moment1, Tensor& moment2,
                   const AdamScalars& scalars) const override;
  void ema_update(Tensor& average, const Tensor& weights, double decay) const override;

 private:
  class Bias;
  void multiply(const Product& product, Bias& bias, int64_t first_column) const;

  std::unique_ptr<CublasLt> library_;
};

}  // namespace dragoman::kernels::cuda
