#include "ops/product_grad.h"

#include "kernels/backends/backend_of.h"
#include "ops/gemm.h"

namespace dragoman::ops {

void gemm_to_grad(const autograd::GradTarget& grad, const Tensor& a, Transpose transpose_a, const Tensor& b,
                  Transpose transpose_b, Precision precision) {
  Tensor c = grad.tensor;
  if (grad.accumulate) {
    gemm_accumulate(a, transpose_a, b, transpose_b, c, precision);
  } else {
    gemm(a, transpose_a, b, transpose_b, c, precision);
  }
}

void add_product_to_grad(const Variable& variable, const Tensor& a, Transpose transpose_a, const Tensor& b,
                         Transpose transpose_b, Precision precision) {
  if (variable.requires_grad()) {
    gemm_to_grad(variable.grad_target(), a, transpose_a, b, transpose_b, precision);
  }
}

void add_bias_grad(const Variable& bias, const Tensor& grad_output) {
  if (!bias.requires_grad()) {
    return;
  }
  Tensor sums = Tensor::zeros(bias.shape(), bias.dtype());  // [Dout]
  kernels::backend_of(sums).sum_rows_accumulate(grad_output, sums);
  bias.add_grad(sums);
}

}  // namespace dragoman::ops
