#pragma once

#include <memory>
#include <optional>

#include "kernels/cpu/gemm/packed_matrix.h"
#include "kernels/int8_weight.h"
#include "ops/types.h"

namespace dragoman::kernels {
class LogitScreen;
}

namespace dragoman::ops {

using kernels::PackedMatrix;
using kernels::ProductOfSame;
using kernels::QuantisedWeight;

/// Selects the copies that a packed weight holds.
struct PackedWeightLayout {
  Precision precision = Precision::kFloat32;  ///< of every product with this weight, including its gradient
  Transpose stored = Transpose::kNo;  ///< kYes: the weight is [Dout, Din], as an embedding used as output weight
  bool with_backward = false;         ///< also hold the copy for dx = dy W^T
};

/// Holds a weight W [Din, Dout] packed for y = x W and, in training, for dx = dy W^T. The copies hold the values at the
/// time of `pack`. After a change of the weight it must be packed again; nn::WeightPacking checks this.
class PackedWeight {
 public:
  /// Allocates room for a weight of this shape, as stored.
  /// Throws: Error unless the shape is a matrix: "packed_weight: the weight is [3], must be a matrix".
  PackedWeight(const tensor::Shape& shape, const PackedWeightLayout& layout);

  /// Returns: the number of panels of all copies. Threads share the work of packing by panels.
  int64_t panels() const;
  /// Returns: the number of elements of panel `index`.
  int64_t panel_size(int64_t index) const;
  /// Overwrites panels [begin, end). The panels of the forward copy come first. Allocates nothing.
  /// Threads: several threads may pack different panels at once.
  void pack(const Tensor& weight, int64_t begin, int64_t end);

  /// Packs the forward copy of a weight that was quantized as stored. Requires: int8, without the backward copy.
  void pack(const QuantisedWeight& weight);
  /// Returns: the shape of the weight as stored.
  tensor::Shape shape() const;

  const PackedMatrix& forward() const { return forward_; }  ///< [Din, Dout]
  /// Returns: the copy [Dout, Din] for gradients; null if there is none.
  const PackedMatrix* backward() const { return backward_ ? &*backward_ : nullptr; }
  const PackedWeightLayout& layout() const { return layout_; }
  /// Returns: the screen for choices among the logits of this weight. It is built by the first call; after that the
  /// weight must not be packed again. The result is null if a screen saves no time: if the precision is not float32,
  /// there is a copy for gradients, columns are few, or int8 is slow.
  /// Threads: any.
  const kernels::LogitScreen* screen() const;

 private:
  struct LazyScreen;

  PackedWeightLayout layout_;
  PackedMatrix forward_;
  std::optional<PackedMatrix> backward_;
  std::shared_ptr<LazyScreen> screen_;  // null if it saves no time
};

/// A weight as an operand of products: the variable, a copy of it, or both. Without a copy, a product takes the
/// variable: the CPU packs it in float32, with the bits of a float32 copy; other devices multiply in
/// `unpacked_precision`, with `rounded` if it is there. Without a variable, which saves memory, there is inference
/// only. Requires: the copy outlives the tape.
struct Weight {
  Weight(Variable weight, const PackedWeight* copy = nullptr, Precision without_copy = Precision::kFloat32,
         Tensor in_bfloat16 = {})
      : variable(std::move(weight)), packed(copy), unpacked_precision(without_copy), rounded(std::move(in_bfloat16)) {}
  /// A weight in int8 on a device that packs none.
  Weight(Variable weight, const kernels::Int8Weight* copy)
      : variable(std::move(weight)), packed(nullptr), int8(copy), unpacked_precision(Precision::kInt8) {}

  tensor::Shape shape() const {
    return variable.defined() ? variable.shape() : int8 != nullptr ? int8->shape() : packed->shape();
  }
  /// Returns: what products in `unpacked_precision` take.
  const Tensor& operand() const { return rounded.defined() ? rounded : variable.value(); }
  Precision precision() const { return packed == nullptr ? unpacked_precision : packed->layout().precision; }

  Variable variable;
  const PackedWeight* packed;
  const kernels::Int8Weight* int8 = nullptr;
  Precision unpacked_precision;
  Tensor rounded;  ///< the values in bfloat16, or undefined
};

/// Computes y = x W + bias, with W stored as `stored` tells.  @param bias  undefined for none
void multiply_weight(const Tensor& x, const Weight& weight, Transpose stored, const Tensor& bias, Tensor& y);
/// Computes dx = dy W^T, or dx += dy W^T if `accumulate` is set; dx must then be float32.
void multiply_weight_backward(const Tensor& grad_y, const Weight& weight, Transpose stored, bool accumulate,
                              Tensor& grad_x);
/// Adds dW = x^T dy to the gradient of the weight, directly in its buffer. Does nothing unless the weight requires a
/// gradient.
void add_weight_grad(const Tensor& x, const Tensor& grad_y, const Weight& weight, Transpose stored);

}  // namespace dragoman::ops
