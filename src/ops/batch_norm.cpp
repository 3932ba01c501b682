#include "ops/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"

namespace dragoman::ops {
namespace {

using Columns = std::vector<double>;  // [D]

Columns columns_of(const Tensor& row) {
  return row.to(DType::kFloat64).to_vector<double>();
}

Tensor row_of_columns(const Columns& columns, DType dtype) {
  return Tensor::from(columns, {static_cast<int64_t>(columns.size())}).to(dtype);
}

// What the backward needs of a norm: y = gain * (x - mean) * rstd + bias.
struct Normed {
  Variable x, gain, bias;
  Columns mean, rstd;

  size_t width() const { return mean.size(); }
  Columns slopes() const {  // gain * rstd
    Columns slopes = columns_of(gain.value());
    std::ranges::transform(slopes, rstd, slopes.begin(), std::multiplies<>());
    return slopes;
  }
};

void check(const char* op, const Variable& x, const Variable& gain, const Variable& bias, float epsilon) {
  kernels::check_float(x.value(), op, "x");
  tensor::check_matrix(x.value(), x.dtype(), op, "x");
  tensor::check_shape(gain.value(), {x.dim(1)}, op, "gain");
  if (bias.defined()) {
    tensor::check_shape(bias.value(), {x.dim(1)}, op, "bias");
  }
  base::check_argument(epsilon > 0.0F, "{}: epsilon is {}, must be above 0", op, epsilon);
}

// sum_n x[n] and sum_n x[n] * y[n] of each column, [2 * D].
Columns column_sums(const Tensor& x, const Tensor& y) {
  Tensor sums = Tensor::empty({2, x.dim(1)}, DType::kFloat64);
  kernels::backend_of(x).column_sums(x, y, sums);
  return sums.to_vector<double>();
}

// y = b * (z - mean) + c
Tensor normalised(const Normed& norm) {
  const DType dtype = norm.x.dtype();
  const Tensor none, mean = row_of_columns(norm.mean, dtype), slopes = row_of_columns(norm.slopes(), dtype);
  const Tensor shift = norm.bias.defined() ? norm.bias.value() : Tensor::zeros({norm.x.dim(1)}, dtype);
  Tensor y = Tensor::empty(norm.x.shape(), dtype);  // [N, D]
  kernels::backend_of(y).map_columns({none, norm.x.value(), slopes, slopes, mean, shift, y});
  return y;
}

// Adds the gradients of gain and bias. Returns: sum dy, then sum dy * (x - mean), of each column of this replica.
Columns add_affine_gradients(const Normed& norm, const Tensor& grad_output) {
  Columns sums = column_sums(grad_output, norm.x.value());
  const size_t width = norm.width();
  Columns of_gain(width);
  for (size_t c = 0; c < width; ++c) {
    sums[width + c] -= norm.mean[c] * sums[c];
    of_gain[c] = sums[width + c] * norm.rstd[c];
  }
  norm.gain.add_grad(row_of_columns(of_gain, norm.gain.dtype()));
  if (norm.bias.defined()) {
    norm.bias.add_grad(row_of_columns({sums.begin(), sums.begin() + static_cast<int64_t>(width)}, norm.bias.dtype()));
  }
  return sums;
}

// dx = slope * (dy - mean(dy) - (x - mean) * rstd^2 * mean(dy * (x - mean))); the two means come from mean and rstd
Tensor grad_of_rows(const Normed& norm, const Tensor& grad_output, const Columns& sums, double rows) {
  const size_t width = norm.width();
  const Columns slopes = norm.slopes();
  Columns of_x(width), shift(width);
  for (size_t c = 0; c < width; ++c) {
    of_x[c] = -slopes[c] * norm.rstd[c] * norm.rstd[c] * sums[width + c] / rows;
    shift[c] = -slopes[c] * sums[c] / rows;
  }
  const DType dtype = norm.x.dtype();
  const Tensor a = row_of_columns(slopes, dtype), b = row_of_columns(of_x, dtype), c = row_of_columns(shift, dtype);
  const Tensor mean = row_of_columns(norm.mean, dtype);
  Tensor grad = Tensor::empty(norm.x.shape(), dtype);  // [N, D]
  kernels::backend_of(grad).map_columns({grad_output, norm.x.value(), a, b, mean, c, grad});
  return grad;
}

// Fills mean and rstd of the batch, and what is kept of it.
BatchMoments measure(Normed& norm, const BatchNormOptions& options) {
  Columns sums = column_sums(norm.x.value(), norm.x.value());
  sums.push_back(static_cast<double>(norm.x.dim(0) + options.zero_rows));
  if (options.sum_over_replicas) {
    options.sum_over_replicas(sums);
  }
  const auto width = static_cast<size_t>(norm.x.dim(1));
  const double rows = std::max(sums.back(), 1.0);
  BatchMoments moments{rows, Columns(width), Columns(width)};
  norm.rstd.resize(width);
  for (size_t c = 0; c < width; ++c) {
    const double mean = sums[c] / rows, variance = std::max(0.0, sums[width + c] / rows - mean * mean);
    moments.mean[c] = mean;
    moments.variance[c] = variance * rows / std::max(rows - 1.0, 1.0);
    norm.rstd[c] = 1.0 / std::sqrt(variance + static_cast<double>(options.epsilon));
  }
  norm.mean = moments.mean;
  return moments;
}

}  // namespace

Variable batch_norm(const Variable& x, const Variable& gain, const Variable& bias, const BatchNormOptions& options) {
  check("batch_norm", x, gain, bias, options.epsilon);
  Normed norm{x, gain, bias, {}, {}};
  const BatchMoments moments = measure(norm, options);
  return autograd::record("batch_norm", normalised(norm), {&x, &gain, &bias},
                          [norm, moments, options](const Tensor& grad_output) {
                            Columns sums = add_affine_gradients(norm, grad_output);
                            if (options.sum_over_replicas) {
                              options.sum_over_replicas(sums);
                            }
                            norm.x.add_grad(grad_of_rows(norm, grad_output, sums, moments.rows));
                            if (options.keep) {
                              options.keep(moments);
                            }
                          });
}

Variable running_norm(const Variable& x, const Variable& gain, const Variable& bias, const Tensor& mean,
                      const Tensor& variance, float epsilon) {
  check("running_norm", x, gain, bias, epsilon);
  tensor::check_shape(mean, {x.dim(1)}, "running_norm", "mean");
  tensor::check_shape(variance, {x.dim(1)}, "running_norm", "variance");
  Normed norm{x, gain, bias, columns_of(mean), columns_of(variance)};
  for (double& value : norm.rstd) {
    value = 1.0 / std::sqrt(value + static_cast<double>(epsilon));
  }
  return autograd::record("running_norm", normalised(norm), {&x, &gain, &bias}, [norm](const Tensor& grad_output) {
    add_affine_gradients(norm, grad_output);
    const Columns none(2 * norm.width());
    norm.x.add_grad(grad_of_rows(norm, grad_output, none, 1.0));
  });
}

}  // namespace dragoman::ops
