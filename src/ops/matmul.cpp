#include "ops/matmul.h"

#include "ops/gemm.h"
#include "ops/product_grad.h"

namespace dragoman::ops {

Variable matmul(const Variable& a, Transpose transpose_a, const Variable& b, Transpose transpose_b) {
  const bool a_transposed = transpose_a == Transpose::kYes, b_transposed = transpose_b == Transpose::kYes;
  tensor::check_matrix(a.value(), a.dtype(), "matmul", "a");
  tensor::check_matrix(b.value(), a.dtype(), "matmul", "b");
  const int64_t rows = a.dim(a_transposed ? 1 : 0), depth = a.dim(a_transposed ? 0 : 1);
  const int64_t columns = b.dim(b_transposed ? 0 : 1);
  tensor::check_shape(b.value(), b_transposed ? tensor::Shape{columns, depth} : tensor::Shape{depth, columns}, "matmul",
                      "b");
  Tensor product = Tensor::empty({rows, columns}, a.dtype());  // [M, N]
  gemm(a.value(), transpose_a, b.value(), transpose_b, product);
  const auto backward = [a, transpose_a, b, transpose_b](const Tensor& grad_output) {
    // Y = op(A) op(B):  d op(A) = dY op(B)^T,  d op(B) = op(A)^T dY
    if (transpose_a == Transpose::kNo) {
      add_product_to_grad(a, grad_output, Transpose::kNo, b.value(), kernels::flipped(transpose_b));
    } else {
      add_product_to_grad(a, b.value(), transpose_b, grad_output, Transpose::kYes);
    }
    if (transpose_b == Transpose::kNo) {
      add_product_to_grad(b, a.value(), kernels::flipped(transpose_a), grad_output, Transpose::kNo);
    } else {
      add_product_to_grad(b, grad_output, Transpose::kYes, a.value(), transpose_a);
    }
  };
  return autograd::record("matmul", product, {&a, &b}, backward);
}

}  // namespace dragoman::ops
