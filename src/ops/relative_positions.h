#pragma once

#include <cstdint>

#include "kernels/cached_attention.h"
#include "ops/types.h"

namespace dragoman::ops {

/// Relative positions fall into buckets: one for each small distance, then wider and wider ones, whose borders grow
/// like powers. Where a query sees keys on both sides of it, each side has half of the buckets.
/// Source: Raffel et al. 2020, section 2.1.
struct RelativeBuckets {
  int64_t count = 32;          ///< at least 4
  int64_t max_distance = 128;  ///< distances from here on share the last bucket; more than half the buckets of a side
  bool both_sides = true;      ///< false: for causal attention, where no key lies behind the query

  bool operator==(const RelativeBuckets&) const = default;
};

/// Returns: the bucket of a key that lies `offset` rows behind the query, or before it if `offset` is negative. The
/// logarithm is computed in float32, as other programs do, since some distances lie exactly on a border.
[[nodiscard]] int64_t relative_bucket(int64_t offset, const RelativeBuckets& buckets);

/// Numbers that attention adds to its scaled products by the buckets of keys, for each head.
struct RelativeBias {
  Variable weight = {};  ///< [count, H] float32, or float64 beside a float64 query; undefined = none
  RelativeBuckets buckets = {};
};

/// Returns: [H, 2*R], the bias by distance as kernels::AttentionInputs takes it. @param reach  R
/// @param offsets  of the sentences; beside them is kept what a device computes the bias with
[[nodiscard]] Tensor bias_by_distance(const Tensor& weight, const RelativeBuckets& buckets, int64_t reach,
                                      const Tensor& offsets);

/// Returns: [count, H], the gradient of the weight. @param grad  [H, 2*R], of bias_by_distance
[[nodiscard]] Tensor bias_weight_grad(const Tensor& grad, const RelativeBuckets& buckets, const Tensor& offsets);

/// Returns: [H, length] float32, the bias of the keys 0 .. length - 1 for the query length - 1. A query that has only
/// `n` keys takes the last n columns.
[[nodiscard]] Tensor bias_of_last_query(const Tensor& weight, const RelativeBuckets& buckets, int64_t length);

/// Makes `keys` add the last columns of a bias of bias_of_last_query, as many as there are keys.
/// Requires: `bias` is in host memory, has as many columns, and outlives the step.
void add_step_bias(const Tensor& bias, kernels::StepKeys& keys);

}  // namespace dragoman::ops
