#include "ops/weight_norm.h"

#include <cmath>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"

namespace dragoman::ops {
namespace {

constexpr const char* kOp = "weight_norm";

using Columns = std::vector<double>;  // [E]

Columns columns_of(const Tensor& row) {
  return row.to(DType::kFloat64).to_vector<double>();
}

Tensor row_of(const Columns& columns, DType dtype) {
  return Tensor::from(columns, {static_cast<int64_t>(columns.size())}).to(dtype);
}

// sum_n x[n], then sum_n x[n] * y[n], of each column, [2 * E].
Columns sums_of(const Tensor& x, const Tensor& y) {
  Tensor sums = Tensor::empty({2, x.dim(1)}, DType::kFloat64);
  kernels::backend_of(x).column_sums(x, y, sums);
  return sums.to_vector<double>();
}

// y = x * factors + shift, a factor for each column.
Tensor scaled(const Tensor& x, const Columns& factors, const Tensor& shift) {
  const Tensor none, row = row_of(factors, x.dtype()), zeros = Tensor::zeros({x.dim(1)}, x.dtype());
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  kernels::backend_of(y).map_columns({none, x, row, row, zeros, shift.defined() ? shift : zeros, y});
  return y;
}

// 1 / ||v||, and 0 for a column of zeros.
Columns inverse_norms(const NormedWeight& weight) {
  Columns norms = columns_of(weight.direction.defined() ? column_norms(weight.direction.value()) : weight.column_norms);
  for (double& norm : norms) {
    norm = norm > 0.0 ? 1.0 / norm : 0.0;
  }
  return norms;
}

void check(const Variable& product, const NormedWeight& weight, const Variable& bias) {
  kernels::check_float(product.value(), kOp, "product");
  tensor::check_matrix(product.value(), product.dtype(), kOp, "product");
  const int64_t width = product.dim(1);
  tensor::check_shape(weight.gain.value(), {width}, kOp, "gain");
  if (bias.defined()) {
    tensor::check_shape(bias.value(), {width}, kOp, "bias");
  }
  if (!weight.direction.defined()) {
    base::check_argument(weight.column_norms.defined(), "{}: there are neither a direction nor its norms", kOp);
    return tensor::check_shape(weight.column_norms, {width}, kOp, "column norms");
  }
  base::check_argument(weight.direction.value().rank() == 2 && weight.direction.dim(1) == width,
                       "{}: direction is {}, must be [K, {}]", kOp, weight.direction.shape(), width);
}

// The gradients of gain and direction. `by_factor` is that of gain / ||v||, for each column.
void add_weight_gradients(const NormedWeight& weight, const Columns& gain, const Columns& inverse,
                          std::span<const double> by_factor) {
  Columns of_gain(gain.size()), of_direction(gain.size());
  for (size_t j = 0; j < gain.size(); ++j) {
    of_gain[j] = by_factor[j] * inverse[j];
    of_direction[j] = -by_factor[j] * gain[j] * inverse[j] * inverse[j] * inverse[j];
  }
  weight.gain.add_grad(row_of(of_gain, weight.gain.dtype()));
  if (weight.direction.defined()) {
    weight.direction.add_grad(scaled(weight.direction.value(), of_direction, {}));
  }
}

}  // namespace

Tensor column_norms(const Tensor& direction) {
  const Columns sums = sums_of(direction, direction);
  Columns norms(sums.begin() + direction.dim(1), sums.end());
  for (double& norm : norms) {
    norm = std::sqrt(norm);
  }
  return row_of(norms, direction.dtype());
}

Variable weight_norm(const Variable& product, const NormedWeight& weight, const Variable& bias) {
  check(product, weight, bias);
  const Columns inverse = inverse_norms(weight), gain = columns_of(weight.gain.value());
  Columns factors = inverse;
  for (size_t j = 0; j < factors.size(); ++j) {
    factors[j] *= gain[j];
  }
  const Tensor y = scaled(product.value(), factors, bias.defined() ? bias.value() : Tensor());  // [N, E]
  const auto backward = [product, weight, bias, inverse, gain, factors](const Tensor& grad_output) {
    const Columns sums = sums_of(grad_output, product.value());
    const std::span<const double> all(sums);
    add_weight_gradients(weight, gain, inverse, all.subspan(gain.size()));
    if (bias.defined()) {
      bias.add_grad(row_of({sums.begin(), sums.begin() + static_cast<ptrdiff_t>(gain.size())}, bias.dtype()));
    }
    product.add_grad(scaled(grad_output, factors, {}));
  };
  return autograd::record(kOp, y, {&product, &weight.direction, &weight.gain, &bias}, backward);
}

}  // namespace dragoman::ops
