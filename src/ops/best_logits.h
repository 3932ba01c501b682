#pragma once

#include "kernels/cpu/output/best_logits.h"
#include "ops/packed_weight.h"

namespace dragoman::ops {

using kernels::BestLogits;

/// Finds the k largest of each row of logits = x W^T + bias, and its log-sum-exp. With a packed copy of W, logits are
/// computed for some columns at a time and read while they are in the cache. They are never stored.
/// @param x  [R, D];  @param weight  [V, D];  @param bias  [V], undefined for none
/// @param k  at least 1; at most V entries are filled; for a choice, one more than the number of tokens before its
/// first The bits are those of `best_of_rows` of the whole product. The bits of a row do not depend on the other rows.
/// If only a choice is requested, LogitScreen may skip most of a product in float32.
void best_of_product(const Tensor& x, const Weight& weight, const Tensor& bias, int k, BestLogits& best);

}  // namespace dragoman::ops
