#include "kernels/cuda/product_parts.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr int64_t kGroup = 8;      // elements of bfloat16 in 16 bytes
constexpr int64_t kLarge = 2'048;  // shorter rows cost less than another kernel

bool is_cut(int64_t size) {
  return size >= kLarge && size % kGroup != 0;
}

const void* moved(const void* data, int64_t elements, bool is_bfloat16) {
  return data == nullptr ? nullptr : static_cast<const char*>(data) + elements * (is_bfloat16 ? 2 : 4);
}

// The part of a matrix from this element on.
AnyMatrix from(const AnyMatrix& matrix, int64_t row, int64_t column) {
  AnyMatrix part = matrix;
  part.data = const_cast<void*>(moved(matrix.data, row * matrix.stride + column, matrix.is_bfloat16));
  return part;
}

ProductParts cut_columns(const Product& product) {
  ProductParts parts{product, product, 0};
  const int64_t at = product.columns / kGroup * kGroup;
  parts.most.columns = at;
  parts.rest.columns = product.columns - at;
  parts.rest_column = at;
  parts.rest.b = product.b_transposed ? from(product.b, at, 0) : from(product.b, 0, at);
  parts.rest.c = from(product.c, 0, at);
  parts.rest.bias = moved(product.bias, at, product.c.is_bfloat16);
  return parts;
}

ProductParts cut_rows(const Product& product) {
  ProductParts parts{product, product, 0};
  const int64_t at = product.rows / kGroup * kGroup;
  parts.most.rows = at;
  parts.rest.rows = product.rows - at;
  parts.rest.a = product.a_transposed ? from(product.a, 0, at) : from(product.a, at, 0);
  parts.rest.c = from(product.c, at, 0);
  return parts;
}

ProductParts cut_depth(const Product& product) {
  ProductParts parts{product, product, 0};
  const int64_t at = product.depth / kGroup * kGroup;
  parts.most.depth = at;
  parts.rest.depth = product.depth - at;
  parts.rest.a = product.a_transposed ? from(product.a, at, 0) : from(product.a, 0, at);
  parts.rest.b = product.b_transposed ? from(product.b, 0, at) : from(product.b, at, 0);
  parts.rest.bias = nullptr;
  parts.rest.accumulate = true;
  return parts;
}

}  // namespace

std::optional<ProductParts> parts_of(const Product& product) {
  if (!product.a.is_bfloat16 || !product.b.is_bfloat16) {
    return std::nullopt;
  }
  if (is_cut(product.columns)) {
    return cut_columns(product);
  }
  if (product.a_transposed && is_cut(product.rows)) {
    return cut_rows(product);
  }
  const bool has_rows_of_depth = !product.a_transposed || product.b_transposed;
  if (has_rows_of_depth && is_cut(product.depth) && !product.relu) {
    return cut_depth(product);
  }
  return std::nullopt;
}

}  // namespace dragoman::kernels::cuda
