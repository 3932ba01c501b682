#pragma once

#include <functional>

#include "ops/packed_weight.h"

namespace dragoman::ops {

/// Computes the output layer, logits = hidden weight^T + bias, for losses that process the classes in parts. A part is
/// some columns of the logits of some tokens. It stays in the second-level cache until the next part overwrites it. A
/// loss that first needs sums over all classes computes the logits twice. That is faster if products are much faster
/// than memory, as with AMX. Otherwise LogitChunks computes them once.
class LogitParts {
 public:
  /// The number of tokens that share one pass over the weight. Each part of the weight is read once for all of them,
  /// and each part of its gradient is written once.
  static constexpr int64_t kTokens = 1024;
  /// The number of tokens whose logits exist at the same time.
  static constexpr int64_t kRows = 256;

  /// Returns: whether the products with this weight are fast enough, and, if `learning`, the products of its gradient.
  static bool pays(const Weight& weight, bool learning);

  /// @param weight  [V, D], with a packed copy in bfloat16, and one for the gradient if Backward is used
  /// @param bias  [V] or undefined
  LogitParts(const Weight& weight, const Variable& bias) : weight_(weight), bias_(bias) {}

  /// Receives rows row .. row + part.dim(0) and columns column .. column + part.dim(1) of the logits, float32, which it
  /// may overwrite.
  using TakePart = std::function<void(int64_t row, int64_t column, Tensor& part)>;
  /// Computes all parts of the logits: some columns of all rows, then the next columns.
  /// @param hidden  [C, D] bfloat16, C <= kTokens
  void compute(const Tensor& hidden, const TakePart& take) const;

  /// Takes the gradients of the logits of some tokens part by part, in the order of `compute`, each part once.
  class Backward {
   public:
    /// @param hidden  [C, D] bfloat16;  @param grad_hidden  [C, D], overwritten; null if not required
    Backward(const LogitParts& logits, const Tensor& hidden, Tensor* grad_hidden);
    /// Adds the contribution of a part to the gradients of hidden, weight and bias.  @param grad_part  [., .] float32
    void add(int64_t row, int64_t column, const Tensor& grad_part);

   private:
    void add_to_bias(int64_t row, int64_t column, const Tensor& grad_part);
    void add_columns(int64_t column, const Tensor& grad_columns);

    const Weight& weight_;
    const Tensor& hidden_;
    Tensor* grad_hidden_;
    autograd::GradTarget weight_grad_, bias_grad_;  // tensors undefined if not required
    Tensor rounded_;                                // [C, .] bfloat16: the gradients of the current columns
  };

 private:
  const Weight& weight_;
  const Variable& bias_;
};

}  // namespace dragoman::ops
