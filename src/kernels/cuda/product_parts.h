#pragma once

#include <optional>

#include "kernels/cuda/products.h"

namespace dragoman::kernels::cuda {

/// A product in two parts, to be computed one after the other.
struct ProductParts {
  Product most;
  Product rest;
  int64_t rest_column = 0;  ///< of the product, where the rest begins
};

/// Cuts a large product of bfloat16 matrices whose rows have a length that is no multiple of 8, such as a vocabulary of
/// 50,257: the fast kernels of cuBLASLt read and write groups of 8 elements. The rest has fewer than 8 columns, rows,
/// or elements of depth. Cut in depth, a result in bfloat16 is rounded twice. Returns: nothing for a product that is
/// fine as it is.
[[nodiscard]] std::optional<ProductParts> parts_of(const Product& product);

}  // namespace dragoman::kernels::cuda
