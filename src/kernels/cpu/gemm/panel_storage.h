#pragma once

#include <cstdint>
#include <functional>

#include "kernels/activation.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// Columns of a part of a product: whole panels on every instruction set.
inline constexpr int64_t kPartColumns = 480;

/// Receives rows row .. row + part.dim(0) and columns column .. column + part.dim(1) of a product. `part` [., .]
/// float32 is overwritten when the call has returned.
using TakePart = std::function<void(int64_t row, int64_t column, const Tensor& part)>;

/// What follows the product in the same pass.
struct PackedEpilogue {
  Tensor bias;  ///< [N] float32, added to each row; undefined = none
  Activation activation = Activation::kNone;
};

/// A packed right operand in memory.
struct PanelStorage {
  Tensor cells;   ///< of 32 bits, in a tensor of float32
  Tensor scales;  ///< [N] float32, int8 only: the scale of each column
  Tensor starts;  ///< [N] int32, int8 only: what the sums of a column begin with
};

/// A weight rounded to int8:  w(k, n) = values(k, n) * scales[n], n being its column in y = x W.
struct QuantisedWeight {
  Tensor values;  ///< [K, N] int8, or [N, K] with Transpose::kYes; from -127 to 127
  Tensor scales;  ///< [N] float32, the scale of each column; 0 for a column of zeros
};

}  // namespace dragoman::kernels
