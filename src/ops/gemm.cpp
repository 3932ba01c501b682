#include "ops/gemm.h"

#include <algorithm>

#include "autograd/variable.h"
#include "base/error.h"
#include "kernels/backends/backend_of.h"

namespace dragoman::ops {
namespace {

using kernels::GemmProblem;
using tensor::Shape;

void check_product(const GemmProblem& product) {
  const Tensor &a = product.a, &b = product.b, &c = product.c;
  const bool a_transposed = product.a_transposed(), b_transposed = product.b_transposed();
  const Precision precision = product.precision;
  base::check_argument(precision != Precision::kInt8, "gemm: precision is int8, which needs a PackedMatrix");
  const DType dtype = c.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const auto operand_type = [&](const Tensor& operand) {
    const bool takes_bfloat16 = is_bfloat16(operand) && precision == Precision::kBFloat16 && dtype == DType::kFloat32;
    return takes_bfloat16 ? DType::kBFloat16 : dtype;
  };
  tensor::check_matrix(a, operand_type(a), "gemm", "a");
  tensor::check_matrix(b, operand_type(b), "gemm", "b");
  const bool rounds = is_bfloat16(c) && precision == Precision::kBFloat16 &&
                      kernels::backend_of(c.device(), dtype).multiplies_in(precision);
  tensor::check_matrix(c, rounds ? DType::kBFloat16 : dtype, "gemm", "c");
  const int64_t rows = a.dim(a_transposed ? 1 : 0), depth = a.dim(a_transposed ? 0 : 1);
  const int64_t columns = b.dim(b_transposed ? 0 : 1);
  tensor::check_shape(b, b_transposed ? Shape{columns, depth} : Shape{depth, columns}, "gemm", "b");
  tensor::check_shape(c, {rows, columns}, "gemm", "c");
  if (product.bias != nullptr) {
    tensor::check_shape(*product.bias, {columns}, "gemm", "bias");
  }
}

void multiply(GemmProblem product) {
  check_product(product);
  product.rows_alike = !autograd::Tape::is_training();  // what is computed with a model does not depend on batches
  if (product.c.size() > 0) {
    kernels::backend_of(product.c).gemm(product);
  }
}

}  // namespace

void gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c,
          Precision precision) {
  multiply({a, transpose_a, b, transpose_b, nullptr, c, false, precision});
}

void gemm_accumulate(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c,
                     Precision precision) {
  multiply({a, transpose_a, b, transpose_b, nullptr, c, true, precision});
}

void gemm_bias(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, const Tensor& bias,
               Tensor& c, Precision precision) {
  multiply({a, transpose_a, b, transpose_b, &bias, c, false, precision});
}

void gemm_relu(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& c, Precision precision) {
  multiply({a, Transpose::kNo, b, Transpose::kNo, &bias, c, false, precision, kernels::Activation::kRelu});
}

}  // namespace dragoman::ops
