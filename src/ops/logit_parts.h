#pragma once

#include <functional>

#include "ops/packed_weight.h"

namespace dragoman::ops {

/// The output layer, logits = hidden weight^T + bias, for losses that go through the classes in parts: some columns of
/// the logits of some tokens stay in the second-level cache until the next part overwrites them. A loss that needs sums
/// over all classes first computes the logits twice. That pays where products are much faster than memory, which is
/// with AMX; elsewhere LogitChunks computes them once.
class LogitParts {
 public:
  /// Tokens that come together: a part of the weight, and of its gradient, is read and written once for all of them.
  static constexpr int64_t kTokens = 1024;
  /// Of these so many at a time have logits.
  static constexpr int64_t kRows = 256;

  /// Whether the products with this weight are so fast, those of the gradient too if `learning`.
  static bool pays(const Weight& weight, bool learning);

  /// @param weight  [V, D], with a packed copy in bfloat16, and one for the gradient where Backward is used
  /// @param bias  [V] or undefined
  LogitParts(const Weight& weight, const Variable& bias) : weight_(weight), bias_(bias) {}

  /// Receives rows row .. row + part.dim(0) and columns column .. column + part.dim(1) of the logits, float32, which it
  /// may overwrite.
  using TakePart = std::function<void(int64_t row, int64_t column, Tensor& part)>;
  /// All parts of the logits: some columns of all rows, then the next columns.
  /// @param hidden  [C, D] bfloat16, C <= kTokens
  void compute(const Tensor& hidden, const TakePart& take) const;

  /// The gradients of the logits of some tokens, a part after the other in the order of `compute`, each once.
  class Backward {
   public:
    /// @param hidden  [C, D] bfloat16;  @param grad_hidden  [C, D], overwritten; null when nobody asks for it
    Backward(const LogitParts& logits, const Tensor& hidden, Tensor* grad_hidden);
    /// Adds what the part adds to the gradients of hidden, weight and bias.  @param grad_part  [., .] float32
    void add(int64_t row, int64_t column, const Tensor& grad_part);

   private:
    void add_to_bias(int64_t row, int64_t column, const Tensor& grad_part);
    void add_columns(int64_t column, const Tensor& grad_columns);

    const Weight& weight_;
    const Tensor& hidden_;
    Tensor* grad_hidden_;
    autograd::GradTarget weight_grad_, bias_grad_;  // tensors undefined where nobody asks
    Tensor rounded_;                                // [C, .] bfloat16: the gradients of the columns that are under way
  };

 private:
  const Weight& weight_;
  const Variable& bias_;
};

}  // namespace dragoman::ops
