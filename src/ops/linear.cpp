#include "ops/linear.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "ops/vector_math.h"

namespace dragoman::ops {
namespace {

using tensor::DType;

void check_linear(const Variable& x, const Weight& weight, const Variable& bias, Transpose stored) {
  const DType dtype = x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  tensor::check_matrix(x.value(), dtype, "linear", "x");
  if (weight.variable.defined()) {
    tensor::check_matrix(weight.variable.value(), dtype, "linear", "weight");
  }
  const tensor::Shape shape = weight.shape();
  const bool turned = stored == Transpose::kYes;
  base::check_argument(shape[turned ? 1 : 0] == x.dim(1), "linear: weight is {}, must have {} {} as x has {} columns",
                       shape, x.dim(1), turned ? "columns" : "rows", x.dim(1));
  if (bias.defined()) {
    tensor::check_shape(bias.value(), {shape[turned ? 0 : 1]}, "linear", "bias");
    base::check_argument(bias.dtype() == dtype, "linear: bias is {}, must be {}", tensor::dtype_name(bias.dtype()),
                         tensor::dtype_name(dtype));
  }
}

// sums += row, for both types of element.
void add_row(std::span<float> sums, const float* row) {
  add_in_place(sums, {row, sums.size()});
}

void add_row(std::span<double> sums, const double* row) {
  for (size_t column = 0; column < sums.size(); ++column) {
    sums[column] += row[column];
  }
}

template <typename T>
void sum_rows(const Tensor& matrix, Tensor& sums) {
  sums.zero();
  const std::span<T> to = sums.span<T>();
  const T* from = matrix.data<T>();
  for (int64_t row = 0; row < matrix.dim(0); ++row) {
    add_row(to, from + row * matrix.stride(0));
  }
}

void add_bias_grad(const Variable& bias, const Tensor& grad_output) {
  if (!bias.requires_grad()) {
    return;
  }
  Tensor sums = Tensor::empty(bias.shape(), bias.dtype());  // [Dout]
  sums.dtype() == DType::kFloat64 ? sum_rows<double>(grad_output, sums) : sum_rows<float>(grad_output, sums);
  bias.add_grad(sums);
}

// y = x W + b, which was computed:  dx = dy W^T,  dW = x^T dy,  db = sum of the rows of dy
Variable record_linear(const Variable& x, const Weight& weight, const Variable& bias, Transpose stored, Tensor y) {
  const auto backward = [x, weight, bias, stored](const Tensor& grad_output) {
    if (x.requires_grad()) {
      auto [grad, accumulate] = x.grad_target();
      multiply_weight_backward(grad_output, weight, stored, accumulate, grad);
    }
    add_weight_grad(x.value(), grad_output, weight, stored);
    add_bias_grad(bias, grad_output);
  };
  return autograd::record("linear", std::move(y), {&x, &weight.variable, &bias}, backward);
}

// What is multiplied in one pass without recording anything: inference with a packed weight.
bool multiplies_packed(const Variable& x, const Weight& weight, const Variable& bias) {
  return weight.packed != nullptr && x.dtype() == DType::kFloat32 &&
         !autograd::needs_grad({&x, &weight.variable, &bias});
}

ProductOfSame product_of(const Variable& x, const Weight& weight, const Variable& bias, Activation activation) {
  check_linear(x, weight, bias, Transpose::kNo);
  return {&weight.packed->forward(),
          {bias.defined() ? bias.value() : Tensor(), activation},
          Tensor::empty({x.dim(0), weight.shape()[1]})};  // [N, Dout]
}

}  // namespace

Variable linear_activation(const Variable& x, const Weight& weight, const Variable& bias, Activation act) {
  if (!multiplies_packed(x, weight, bias)) {
    return activation(linear(x, weight, bias), act);
  }
  ProductOfSame product = product_of(x, weight, bias, act);
  PackedMatrix::multiply_each(x.value(), {&product, 1});
  return Variable(product.y);
}

std::vector<Variable> linear_each(const Variable& x, std::span<const LinearMap> maps) {
  std::vector<Variable> results;
  if (x.dtype() != DType::kFloat32 ||
      !std::ranges::all_of(maps, [](const LinearMap& map) { return map.weight.packed; })) {
    for (const LinearMap& map : maps) {
      results.push_back(linear(x, map.weight, map.bias));
    }
    return results;
  }
  std::vector<ProductOfSame> products;
  for (const LinearMap& map : maps) {
    products.push_back(product_of(x, map.weight, map.bias, Activation::kNone));
  }
  PackedMatrix::multiply_each(x.value(), products);
  for (size_t i = 0; i < maps.size(); ++i) {
    results.push_back(record_linear(x, maps[i].weight, maps[i].bias, Transpose::kNo, products[i].y));
  }
  return results;
}

Variable linear(const Variable& x, const Weight& weight, const Variable& bias, Transpose stored) {
  check_linear(x, weight, bias, stored);
  const int64_t d_out = weight.shape()[stored == Transpose::kYes ? 0 : 1];
  Tensor y = Tensor::empty({x.dim(0), d_out}, x.dtype());  // [N, Dout]
  multiply_weight(x.value(), weight, stored, bias.defined() ? bias.value() : Tensor(), y);
  return record_linear(x, weight, bias, stored, std::move(y));
}

}  // namespace dragoman::ops
