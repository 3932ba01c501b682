#include "ops/gemm.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/cpu/gemm/gemm_cpu.h"
#include "kernels/reference/gemm.h"

namespace dragoman::ops {
namespace {

using tensor::Shape;

struct Product {
  const Tensor& a;
  bool a_transposed;
  const Tensor& b;
  bool b_transposed;
  const Tensor* bias;  // null for none
  Tensor& c;
  bool accumulate;
  Precision precision;
};

void check_product(const Product& product) {
  const auto& [a, a_transposed, b, b_transposed, bias, c, accumulate, precision] = product;
  base::check_argument(precision != Precision::kInt8, "gemm: precision is int8, which needs a PackedMatrix");
  const DType dtype = c.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const auto operand_type = [&](const Tensor& operand) {
    const bool takes_bfloat16 = is_bfloat16(operand) && precision == Precision::kBFloat16 && dtype == DType::kFloat32;
    return takes_bfloat16 ? DType::kBFloat16 : dtype;
  };
  tensor::check_matrix(a, operand_type(a), "gemm", "a");
  tensor::check_matrix(b, operand_type(b), "gemm", "b");
  tensor::check_matrix(c, dtype, "gemm", "c");
  const int64_t rows = a.dim(a_transposed ? 1 : 0), depth = a.dim(a_transposed ? 0 : 1);
  const int64_t columns = b.dim(b_transposed ? 0 : 1);
  tensor::check_shape(b, b_transposed ? Shape{columns, depth} : Shape{depth, columns}, "gemm", "b");
  tensor::check_shape(c, {rows, columns}, "gemm", "c");
  if (bias != nullptr) {
    tensor::check_shape(*bias, {columns}, "gemm", "bias");
  }
}

// c = bias in each row, or zeros.
template <typename T>
void start_rows(const Tensor* bias, Tensor& c) {
  for (int64_t row = 0; row < c.dim(0); ++row) {
    T* to = c.data<T>() + row * c.stride(0);
    if (bias != nullptr) {
      std::copy_n(bias->data<T>(), c.dim(1), to);
    } else {
      std::fill_n(to, c.dim(1), T{0});
    }
  }
}

void multiply_float64(const Product& product) {
  if (!product.accumulate) {
    start_rows<double>(product.bias, product.c);
  }
  kernels::reference::gemm_accumulate(product.a, product.a_transposed ? Transpose::kYes : Transpose::kNo, product.b,
                                      product.b_transposed ? Transpose::kYes : Transpose::kNo, product.c);
}

void multiply_float32(const Product& product) {
  const auto& [a, a_transposed, b, b_transposed, bias, c, accumulate, precision] = product;
  const kernels::GemmArguments arguments{
      .a = kernels::StoredOperand::of(a, a_transposed),
      .b = kernels::StoredOperand::of(b, b_transposed),
      .c = c.data<float>(),
      .c_stride = c.stride(0),
      .rows = c.dim(0),
      .columns = c.dim(1),
      .depth = a.dim(a_transposed ? 0 : 1),
      .bias = bias == nullptr ? nullptr : bias->data<float>(),
      .kernel = kernels::product_kernel(precision),
  };
  if (arguments.depth > 0) {
    if (accumulate) {
      kernels::gemm_kernel_accumulate(arguments);
    } else {
      kernels::gemm_kernel(arguments);
    }
  } else if (!accumulate) {
    start_rows<float>(bias, c);
  }
}

void multiply(const Product& product) {
  check_product(product);
  if (product.c.size() == 0) {
    return;
  }
  if (product.c.dtype() == DType::kFloat64) {
    multiply_float64(product);
  } else {
    multiply_float32(product);
  }
}

bool is_yes(Transpose transpose) {
  return transpose == Transpose::kYes;
}

}  // namespace

void gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c,
          Precision precision) {
  multiply({a, is_yes(transpose_a), b, is_yes(transpose_b), nullptr, c, false, precision});
}

void gemm_accumulate(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c,
                     Precision precision) {
  multiply({a, is_yes(transpose_a), b, is_yes(transpose_b), nullptr, c, true, precision});
}

void gemm_bias(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, const Tensor& bias,
               Tensor& c, Precision precision) {
  multiply({a, is_yes(transpose_a), b, is_yes(transpose_b), &bias, c, false, precision});
}

}  // namespace dragoman::ops
