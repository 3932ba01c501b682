#pragma once

#include <memory>
#include <optional>

#include "kernels/cpu/gemm/packed_matrix.h"
#include "ops/types.h"

namespace dragoman::kernels {
class LogitScreen;
}

namespace dragoman::ops {

using kernels::PackedMatrix;
using kernels::ProductOfSame;
using kernels::QuantisedWeight;

/// Which copies a packed weight holds.
struct PackedWeightLayout {
  Precision precision = Precision::kFloat32;  ///< of every product with this weight, its gradient's included
  Transpose stored = Transpose::kNo;  ///< kYes: the weight is [Dout, Din], as an embedding used as output weight
  bool with_backward = false;         ///< also the copy for dx = dy W^T
};

/// A weight W [Din, Dout] packed for y = x W and, for training, dx = dy W^T. The copies are of the moment of `pack`:
/// whoever changes the weight packs it again (nn::WeightPacking keeps watch over this).
class PackedWeight {
 public:
  /// Room for a weight of this shape (as stored). Throws Error unless it is a matrix.
  PackedWeight(const tensor::Shape& shape, const PackedWeightLayout& layout);

  /// Panels of all copies together, and the numbers that one of panel `index` holds: what the work of packing is
  /// shared by.
  int64_t panels() const;
  int64_t panel_size(int64_t index) const;
  /// Packs panels [begin, end), those of the forward copy first, over what they held. Asks for no memory. Different
  /// panels may be packed by different threads at once.
  void pack(const Tensor& weight, int64_t begin, int64_t end);

  /// The forward copy of a weight that was quantised as it is stored; int8 and without the backward copy.
  void pack(const QuantisedWeight& weight);
  /// Of the weight as it is stored.
  tensor::Shape shape() const;

  const PackedMatrix& forward() const { return forward_; }  ///< [Din, Dout]
  /// [Dout, Din]; null when there is none.
  const PackedMatrix* backward() const { return backward_ ? &*backward_ : nullptr; }
  const PackedWeightLayout& layout() const { return layout_; }
  /// For choices by the product; made when it is first asked for, after which the weight must not be packed again. Null
  /// where it does not pay: other than float32, with a copy for gradients, few columns, no fast int8. Safe in any
  /// thread.
  const kernels::LogitScreen* screen() const;

 private:
  struct LazyScreen;

  PackedWeightLayout layout_;
  PackedMatrix forward_;
  std::optional<PackedMatrix> backward_;
  std::shared_ptr<LazyScreen> screen_;  // null where it does not pay
};

/// A weight as products take it: the variable, its packed copy (it must outlive the tape), or both. Without a copy the
/// product packs the weight at each call, in float32, and gives the same bits as with a float32 copy. Without a
/// variable, which saves its memory, there is inference only.
struct Weight {
  Weight(Variable weight, const PackedWeight* copy = nullptr) : variable(std::move(weight)), packed(copy) {}

  tensor::Shape shape() const { return variable.defined() ? variable.shape() : packed->shape(); }
  Precision precision() const { return packed == nullptr ? Precision::kFloat32 : packed->layout().precision; }

  Variable variable;
  const PackedWeight* packed;
};

/// y = x W + bias for W stored as `stored` says.  @param bias  undefined for none
void multiply_weight(const Tensor& x, const Weight& weight, Transpose stored, const Tensor& bias, Tensor& y);
/// dx = dy W^T, or dx += dy W^T, which must be float32 then.
void multiply_weight_backward(const Tensor& grad_y, const Weight& weight, Transpose stored, bool accumulate,
                              Tensor& grad_x);
/// dW = x^T dy, added to the gradient of the weight, straight into its buffer. Nothing unless it asks for one.
void add_weight_grad(const Tensor& x, const Tensor& grad_y, const Weight& weight, Transpose stored);

}  // namespace dragoman::ops
