#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "kernels/activation.h"
#include "kernels/adam.h"
#include "kernels/attention.h"
#include "kernels/cached_attention.h"
#include "kernels/columns.h"
#include "kernels/cross_entropy.h"
#include "kernels/device_messages.h"
#include "kernels/dropout.h"
#include "kernels/elementwise.h"
#include "kernels/gated_activation.h"
#include "kernels/gemm.h"
#include "kernels/int8_weight.h"
#include "kernels/layer_norm.h"
#include "kernels/recurrent.h"
#include "kernels/rotation.h"
#include "kernels/scan.h"
#include "kernels/two_pass_cross_entropy.h"

namespace dragoman::kernels {

class BestLogits;

/// Rows of logits that exist at the same time on the host. With fewer rows, reading and writing the gradient of a large
/// weight would take longer than its products. More rows would not fit into the cache.
inline constexpr int64_t kRowsOfLogits = 256;

/// The kernels of one device and one kind of numbers: a method is a kernel. Everything above this folder computes
/// through a backend, which backend_of (kernels/backends/backend_of.h) chooses, and reads tensor memory only through
/// tensor/transfer.h. The CPU backend computes in float32 and bfloat16. The reference backend defines each kernel in
/// plain float64 loops.
/// Requires, for all methods: the shapes were checked. Tensors are in the memory of the backend's device; tensors of
/// int32 and bool may be in host memory. Unless a method says otherwise, the last tensor is the result and is
/// overwritten, and rows of matrices may be strided.
/// Threads: any number may call one backend.
class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// Returns: "cpu", "cuda" or "reference", for messages.
  virtual const char* name() const = 0;
  /// Returns: whether products with weights use copies of them in kernels::PackedMatrix. If not, they use the weights
  /// as stored.
  virtual bool packs_weights() const = 0;
  /// Returns: whether products with weights that are not packed take operands of this precision, rounded if needed.
  virtual bool multiplies_in(Precision precision) const { return precision == Precision::kFloat32; }
  /// Returns: whether a product with a bias takes its ReLU for nothing.
  virtual bool multiplies_with_relu() const { return false; }
  /// Returns: rows of logits that are computed at once.
  virtual int64_t rows_of_logits() const { return kRowsOfLogits; }

  // Devices of several processes

  /// Returns: the identity of a new group of devices, for join_device_group; empty if devices of this kind have no
  /// messages of their own.
  virtual std::string new_device_group() const { return {}; }
  /// Returns: a text that differs between the devices of all machines; empty for the host.
  virtual std::string device_place() const { return {}; }
  /// Joins a group of as many processes as `size`, one device each. Returns when all have; null if devices of this kind
  /// have no messages of their own.
  virtual std::unique_ptr<DeviceMessages> join_device_group(const std::string& /*group*/, int /*rank*/,
                                                            int /*size*/) const {
    return nullptr;
  }

  // Products, sums and single elements

  virtual void gemm(const GemmProblem& problem) const = 0;
  /// Computes products of the rows of x [M, K] float32 with weights in int8, with the bits of PackedMatrix. Rows of x
  /// are rounded once for all. Throws: Error, "cpu: multiply_int8 does not exist; use a PackedMatrix".
  virtual void multiply_int8(const Tensor& x, std::span<const Int8Product> products) const;
  /// Computes y[n] = scale * W^T[ids[n]].  @param table  W [D, V];  @param ids  [N] int32;  @param y  [N, D] float32
  virtual void gather_int8_rows(const Int8Weight& table, const Tensor& ids, float scale, Tensor& y) const;
  /// Computes sums += sum of the rows, added in order.  @param rows  [N, D], may be bfloat16;  @param sums  [D]
  virtual void sum_rows_accumulate(const Tensor& rows, Tensor& sums) const = 0;
  /// Computes rows[n] += row.  @param row  [D];  @param rows  [N, D]
  virtual void add_to_rows(const Tensor& row, Tensor& rows) const = 0;
  /// Computes sum += part. Both are contiguous and have equal shapes; in bfloat16 each sum is rounded.
  virtual void add_in_place(Tensor& sum, const Tensor& part) const = 0;
  /// Computes y[i] = value of a contiguous tensor, without a copy from the host.
  virtual void fill(double value, Tensor& y) const { y.fill(value); }
  /// Computes y[i] = map(x[i]) of contiguous tensors.
  virtual void map(ElementMap map, const Tensor& x, Tensor& y) const = 0;
  /// Computes y[i] = map(left[i], right[i]) of contiguous tensors. An operand of one element is used for every i.
  virtual void map_pairs(PairMap map, const Tensor& left, const Tensor& right, Tensor& y) const = 0;
  /// Returns: the sum of all elements of a contiguous tensor, added in float64, in order.
  virtual double sum(const Tensor& x) const = 0;

  // Rows [N, D]

  /// Computes y = dropout(activation(x)).
  virtual void activation(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y) const = 0;
  /// Computes grad_x = grad_y * scales * activation'(x).  @param saved  y for kRelu, x for the others
  virtual void activation_backward(const Tensor& saved, const Tensor& grad_y, Activation activation,
                                   const Dropout& dropout, Tensor& grad_x) const = 0;
  /// Computes y = dropout(activation(gate) * up).
  virtual void gated_activation(const GatedInputs& inputs, Tensor& y) const = 0;
  /// Computes the gradients of gate and up.
  virtual void gated_activation_backward(const GatedInputs& inputs, const Tensor& grad_y,
                                         const GatedGradients& gradients) const = 0;
  /// Rotates the pairs (i, i + Dh/2) of each head by the angles of its position.  @param y  of the type of x
  virtual void rotate(const Rotation& rotation, Tensor& y) const = 0;
  virtual void softmax(const Tensor& x, Tensor& probs) const = 0;
  virtual void log_softmax(const Tensor& x, Tensor& log_probs) const = 0;
  virtual void softmax_backward(const Tensor& probs, const Tensor& grad_output, Tensor& grad) const = 0;
  virtual void log_softmax_backward(const Tensor& log_probs, const Tensor& grad_output, Tensor& grad) const = 0;
  virtual void layer_norm(const LayerNormForward& norm) const = 0;
  virtual void layer_norm_backward(const LayerNormBackward& norm) const = 0;
  /// Computes sum = residual + dropout(sublayer).
  virtual void residual_dropout(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                Tensor& sum) const = 0;
  /// Computes residual_dropout and layer_norm. Requires: `norm.x` is `sum`.
  virtual void residual_dropout_layer_norm(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout,
                                           Tensor& sum, const LayerNormForward& norm) const = 0;
  /// Computes layer_norm_backward, and grad_sublayer = grad_x * scales.
  virtual void residual_dropout_layer_norm_backward(const LayerNormBackward& norm, const Dropout& dropout,
                                                    Tensor& grad_sublayer) const = 0;
  /// Computes y = x * scales; y may be x.
  virtual void dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y) const = 0;
  /// Copies rows, rounded to the type of `y`.
  void copy_rounded(const Tensor& x, Tensor& y) const { dropout_rows(x, {}, y); }
  /// Computes y[n] = x[n] * scale of element (n, 0): a row is kept or dropped as a whole.
  virtual void dropout_whole_rows(const Tensor& x, const Dropout& dropout, Tensor& y) const = 0;
  /// Computes y[n] = scale * table[ids[n]].  @param table  [V, D];  @param ids  [N] int32
  virtual void gather_rows(const Tensor& table, const Tensor& ids, float scale, Tensor& y) const = 0;
  /// Computes table_sum[ids[n]] += scale * rows[n], in the order of n.
  virtual void scatter_rows_accumulate(const Tensor& rows, const Tensor& ids, float scale, Tensor& table_sum) const = 0;
  /// Computes to[n] += from[n].
  virtual void rows_accumulate(const Tensor& from, Tensor& to) const = 0;

  // Losses of logits [N, V] with targets [N] int32. They are added to `sums`, or to sums.pending by a backend that
  // would have to wait

  virtual void cross_entropy(const Tensor& logits, const Tensor& targets, float label_smoothing,
                             TokenLosses& sums) const = 0;
  /// Computes cross_entropy and overwrites the logits with their gradients.
  virtual void cross_entropy_gradient(Tensor& logits, const Tensor& targets, const LossOptions& options,
                                      TokenLosses& sums) const = 0;
  virtual void two_pass_cross_entropy(const TwoPassBlock& block, TwoPassLosses& sums) const = 0;
  /// Computes y = sum_i weights[i] * terms[i].  @param terms  [n] float64, n <= 4;  @param y  one element
  virtual void weighted_sum(const Tensor& terms, std::span<const double> weights, Tensor& y) const = 0;

  // Attention: a backend may refuse fewer heads of key and value than of query, a window, another scale than
  // 1 / sqrt(Dh), and a bias

  /// Overwrites context [Nq, H*Dv].
  [[nodiscard]] virtual AttentionSaved attention_forward(const AttentionInputs& inputs, Tensor& context) const = 0;
  /// Overwrites the gradients of query, key and value, and of the distance bias if there is one.
  virtual void attention_backward(const AttentionInputs& inputs, const AttentionSaved& saved,
                                  const Tensor& grad_context, AttentionGradients& gradients) const = 0;
  /// Overwrites weights [H, T, S]. Requires: exactly one sentence.
  virtual void attention_weights(const AttentionInputs& inputs, Tensor& weights) const = 0;

  // Recurrent models: a backend may refuse them

  /// Computes one step of a recurrent layer.
  virtual void recurrent_cell(const RecurrentCellForward& step) const = 0;
  virtual void recurrent_cell_backward(const RecurrentCellBackward& step) const = 0;
  /// Computes attention of decoder states to the encoder states of their sentences.
  virtual void source_attention(const SourceAttentionForward& attention) const = 0;
  virtual void source_attention_backward(const SourceAttentionBackward& attention) const = 0;

  // Running means and norms over columns: a backend may refuse them

  virtual void scan(const ScanForward& scan) const = 0;
  virtual void scan_backward(const ScanBackward& scan) const = 0;
  /// Computes sums[0] = sum_n x[n] and sums[1] = sum_n x[n] * y[n], added in float64 in the order of the rows.
  /// @param x, y  [N, D];  @param sums  [2, D] float64
  virtual void column_sums(const Tensor& x, const Tensor& y, Tensor& sums) const = 0;
  virtual void map_columns(const ColumnMap& map) const = 0;

  // Vectors of texts: a backend may refuse them

  /// Computes the mean of the rows of each text.  @param x  [N, D];  @param offsets  [B + 1], no text is empty
  /// @param means  [B, D]
  virtual void mean_of_texts(const Tensor& x, std::span<const int32_t> offsets, Tensor& means) const = 0;
  virtual void mean_of_texts_backward(const Tensor& grad_means, std::span<const int32_t> offsets,
                                      Tensor& grad_x) const = 0;
  /// Computes y[n] = x[n] / max(|x[n]|, kLeastLength) (kernels/text_vectors.h).
  virtual void unit_rows(const Tensor& x, Tensor& y) const = 0;
  virtual void unit_rows_backward(const Tensor& x, const Tensor& grad_y, Tensor& grad_x) const = 0;

  // Decoding

  /// Computes one decoding step of attention; each row of `query` [R, H*Dh] attends to its own keys.
  /// @param context  [R, H*Dv], overwritten
  /// @param mean_weights  nullptr, or [R, L], overwritten with the weights averaged over the heads
  virtual void attention_step(const Tensor& query, std::span<const StepKeys> rows, int n_heads, Tensor& context,
                              Tensor* mean_weights) const = 0;
  /// Computes attention of each row of `query` [R, H*Dh] to all keys of its group; results as in attention_step.
  virtual void attention_shared(const Tensor& query, std::span<const SharedRows> groups, int n_heads, Tensor& context,
                                Tensor* mean_weights) const = 0;
  /// Returns: a copy of keys [S, H*Dh] and values [S, H*Dv] for attention_shared, in float32, bfloat16 or int8.
  [[nodiscard]] virtual SharedKeys pack_shared_keys(const Tensor& keys, const Tensor& values, int n_heads,
                                                    DType dtype) const = 0;
  /// Returns: whether attention_over_cache exists, so that decoding keeps its tables in the memory of the device.
  virtual bool reads_tables() const { return false; }
  /// Computes attention_step of rows whose histories are tables.
  /// @param context  [R, H*Dv] float32 or bfloat16, overwritten;  @param mean_weights  as in attention_step
  virtual void attention_over_cache(const Tensor& query, const CachedHistories& histories, int n_heads, Tensor& context,
                                    Tensor* mean_weights) const;
  /// Runs `work`, whose kernels read and write memory that stays where it is.
  /// Returns: what runs the same kernels again, with the same memory; empty if the backend cannot.
  /// Requires: `work` copies nothing from or to the host. Its tensors are in an allocator that serves nothing else.
  [[nodiscard]] virtual std::function<void()> record(const std::function<void()>& work) const;
  /// Copies keys and values into rows of a cache, rounded to its type.
  virtual void store_cached_rows(const CachedRows& rows) const = 0;
  /// Finds the k largest of each row of logits [R, V], and its log-sum-exp.
  virtual void best_of_rows(const Tensor& logits, int k, BestLogits& best) const = 0;

  // Training: contiguous tensors of equal length

  /// Returns: the sum of x^2 in float64, added in a fixed order.
  virtual double sum_of_squares(const Tensor& x) const = 0;
  /// Returns: true if no element is NaN or infinite.
  virtual bool all_finite(const Tensor& x) const = 0;
  /// Computes factors[0] = clip_factor(norm, clip_norm) and factors[1] = norm, the L2 norm of the gradients, without a
  /// wait.  @param factors  [2] float64
  virtual void clip_factors(const Tensor& gradients, double clip_norm, Tensor& factors) const = 0;
  /// Computes one update of Adam, or of AdamW if there is weight decay. Weights and moments are updated in place.
  virtual void adam_update(Tensor& weights, const Tensor& grads, Tensor& moment1, Tensor& moment2,
                           const AdamScalars& scalars) const = 0;
  /// Computes average += (1 - decay) * (weights - average).
  virtual void ema_update(Tensor& average, const Tensor& weights, double decay) const = 0;
};

}  // namespace dragoman::kernels
