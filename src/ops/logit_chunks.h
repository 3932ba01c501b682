#pragma once

#include "kernels/backend.h"
#include "ops/packed_weight.h"

namespace dragoman::ops {

/// Computes the output layer, logits = hidden weight^T + bias, for losses that process the tokens in chunks. Each chunk
/// overwrites the logits of the previous chunk, so that all logits never exist together. The loss overwrites the logits
/// of a chunk with their gradient and passes them to `backward` while they are in the cache.
class LogitChunks {
 public:
  /// The number of rows of a chunk on the host.
  static constexpr int64_t kRows = kernels::kRowsOfLogits;

  /// Returns: the rows of a chunk that the backend of `hidden` asks for: kRows on the host. A GPU reads the gradient of
  /// the weight once for each chunk, and has memory for more rows.
  static int64_t rows_at_once(const Tensor& hidden);

  /// @param weight  [V, D] float32 or float64; a packed copy is used;  @param bias  [V] or undefined
  /// @param rows  of the largest chunk
  /// @param learning  on a GPU that multiplies in bfloat16, logits and gradients then are bfloat16, which halves what
  /// is read and written
  LogitChunks(const Weight& weight, const Variable& bias, int64_t rows, bool learning);

  /// Throws: Error naming `op` unless hidden [N, D], weight [V, D] and bias [V] fit together.
  static void check(const Tensor& hidden, const Variable& weight, const Variable& bias, const char* op);

  /// @param hidden  [C, D], C at most the rows of the largest chunk;  @return [C, V], valid until the next call
  Tensor compute(const Tensor& hidden);

  /// Computes the gradients of the last compute(hidden). The gradients of weight and bias are added to their buffers,
  /// if they are required.
  /// @param grad_hidden  [C, D], overwritten; null if not required
  void backward(const Tensor& hidden, const Tensor& grad_logits, Tensor* grad_hidden) const;

 private:
  const Weight& weight_;
  const Variable& bias_;
  Tensor logits_;  // [C, V]
};

}  // namespace dragoman::ops
