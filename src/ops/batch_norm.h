#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ops/types.h"

namespace dragoman::ops {

/// The statistics of each column of a batch, over the rows of all replicas.
struct BatchMoments {
  double rows = 0.0;             ///< M, zero_rows included
  std::vector<double> mean;      ///< [D]
  std::vector<double> variance;  ///< [D], divided by M - 1, an estimate for all text
};

struct BatchNormOptions {
  float epsilon = 1e-5F;
  /// Rows of zeros that count in the statistics beside those of x, such as the padding of a batch.
  int64_t zero_rows = 0;
  /// Adds numbers over all replicas; empty: x is the whole batch.
  std::function<void(std::span<double>)> sum_over_replicas = {};
  /// Gets the statistics once, in the backward; empty for none. A forward that is computed again does not count twice.
  std::function<void(const BatchMoments&)> keep = {};
};

/// Normalises each column of a batch:  y = gain * (x - mean) / sqrt(variance + epsilon) + bias, with mean and variance
/// (divided by M) of the column over all M rows of all replicas, zero_rows included. Sums are float64 and in a fixed
/// order, so that the split of a batch over replicas changes nothing but their last rounding.
/// @param x  [N, D] float32 or float64, N may be 0;  @param gain  [D];  @param bias  [D], undefined for none
/// @return [N, D].   Saves for backward: x (shared).   Gradients: x, gain, bias; those of gain and bias are of this
/// replica's rows.
/// Throws: Error, "batch_norm: gain is [3], must be [4]".
/// Source: Ioffe and Szegedy 2015, "Batch Normalization", algorithm 1.
Variable batch_norm(const Variable& x, const Variable& gain, const Variable& bias, const BatchNormOptions& options);

/// Normalises each column by given statistics, which get no gradient: a batch norm outside training. A row depends on
/// that row alone.  @param mean, variance  [D].   Gradients: x, gain, bias.
Variable running_norm(const Variable& x, const Variable& gain, const Variable& bias, const Tensor& mean,
                      const Tensor& variance, float epsilon);

}  // namespace dragoman::ops
