#pragma once

#include <cstdint>
#include <functional>

#include "kernels/activation.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// The number of columns of a part of a product: whole panels on every instruction set.
inline constexpr int64_t kPartColumns = 480;

/// Receives rows row .. row + part.dim(0) and columns column .. column + part.dim(1) of a product. The memory of `part`
/// [., .] float32 is reused after the call.
using TakePart = std::function<void(int64_t row, int64_t column, const Tensor& part)>;

/// The epilogue of a product, applied in the same pass.
struct PackedEpilogue {
  Tensor bias;  ///< [N] float32, added to each row; undefined = none
  Activation activation = Activation::kNone;
};

/// The memory of a packed right operand.
struct PanelStorage {
  Tensor cells;   ///< cells of 32 bits, in a tensor of float32
  Tensor scales;  ///< [N] float32, int8 only: the scale of each column
  Tensor starts;  ///< [N] int32, int8 only: the initial value of the sums of each column
};

}  // namespace dragoman::kernels
