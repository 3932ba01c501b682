#include "ops/gemm.h"

#include <dnnl.h>
#include <omp.h>

#include "base/cpu.h"
#include "base/error.h"
#include "ops/reference/gemm.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using tensor::Shape;

struct Product {
  const Tensor& a;
  Transpose transpose_a;
  const Tensor& b;
  Transpose transpose_b;
  Tensor& c;
  bool accumulate;
};

void check_product(const Product& product) {
  const auto& [a, transpose_a, b, transpose_b, c, accumulate] = product;
  const DType dtype = c.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  tensor::check_matrix(a, dtype, "gemm", "a");
  tensor::check_matrix(b, dtype, "gemm", "b");
  tensor::check_matrix(c, dtype, "gemm", "c");
  const bool a_turned = transpose_a == Transpose::kYes, b_turned = transpose_b == Transpose::kYes;
  const int64_t rows = a.dim(a_turned ? 1 : 0), depth = a.dim(a_turned ? 0 : 1), columns = b.dim(b_turned ? 0 : 1);
  tensor::check_shape(b, b_turned ? Shape{columns, depth} : Shape{depth, columns}, "gemm", "b");
  tensor::check_shape(c, {rows, columns}, "gemm", "c");
}

void multiply(const Product& product) {
  check_product(product);
  const auto& [a, transpose_a, b, transpose_b, c, accumulate] = product;
  if (c.size() == 0) {
    return;
  }
  if (c.dtype() == DType::kFloat64) {
    reference::gemm(a, transpose_a, b, transpose_b, c, accumulate);
    return;
  }
  omp_set_num_threads(1);
  const int64_t depth = a.dim(transpose_a == Transpose::kYes ? 0 : 1);
  if (depth == 0) {
    if (!accumulate) {
      c.zero();
    }
    return;
  }
  dnnl_sgemm(transpose_a == Transpose::kYes ? 'T' : 'N', transpose_b == Transpose::kYes ? 'T' : 'N', c.dim(0), c.dim(1),
             depth, 1.0F, a.data<float>(), a.stride(0), b.data<float>(), b.stride(0), accumulate ? 1.0F : 0.0F,
             c.data<float>(), c.stride(0));
}

}  // namespace

void gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c) {
  multiply({a, transpose_a, b, transpose_b, c, false});
}

void gemm_accumulate(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c) {
  multiply({a, transpose_a, b, transpose_b, c, true});
}

}  // namespace dragoman::ops
