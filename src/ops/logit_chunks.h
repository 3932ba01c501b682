#pragma once

#include "ops/packed_weight.h"

namespace dragoman::ops {

/// The output layer, logits = hidden weight^T + bias, for losses that go through the tokens in chunks: the logits of
/// one chunk live in a buffer that the next one overwrites, so all logits never exist together. The loss turns the
/// logits of a chunk into their gradient and hands them back while they are in cache.
class LogitChunks {
 public:
  /// Rows of logits that exist at the same time. Fewer would read and write the gradient of a large weight more often
  /// than its products take, more would push the logits out of the cache.
  static constexpr int64_t kRows = 256;

  /// @param weight  [V, D] float32 or float64; a packed copy is used;  @param bias  [V] or undefined
  /// @param rows  largest chunk that will come, at most kRows
  LogitChunks(const Weight& weight, const Variable& bias, int64_t rows);

  /// Throws Error naming `op` unless hidden [N, D], weight [V, D] and bias [V] fit together.
  static void check(const Tensor& hidden, const Variable& weight, const Variable& bias, const char* op);

  /// @param hidden  [C, D], C <= kRows;  @return [C, V], valid until the next call
  Tensor compute(const Tensor& hidden);

  /// Gradients of the last compute(hidden): adds those of weight and bias to their buffers where they are asked for.
  /// @param grad_hidden  [C, D], overwritten; null when nobody asks for it
  void backward(const Tensor& hidden, const Tensor& grad_logits, Tensor* grad_hidden) const;

 private:
  const Weight& weight_;
  const Variable& bias_;
  Tensor logits_;  // [C, V]
};

}  // namespace dragoman::ops
