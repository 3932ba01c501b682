#pragma once

#include "kernels/cpu/output/best_logits.h"
#include "ops/packed_weight.h"

namespace dragoman::ops {

using kernels::BestLogits;

/// The k largest of each row of logits = x W^T + bias and its log-sum-exp. With a packed copy of W the logits are
/// computed a part of the columns at a time and looked at while they are in the cache; they are never stored.
/// @param x  [R, D];  @param weight  [V, D];  @param bias  [V], undefined for none;  @param k  at least 1; at most V of
/// them are given; for a choice, one more than the tokens before the first
/// The bits are those of `best_of_rows` of the whole product, and those of a row do not depend on the others. Where
/// only a choice is wanted, most of a product in float32 may be spared (LogitScreen).
void best_of_product(const Tensor& x, const Weight& weight, const Tensor& bias, int k, BestLogits& best);

}  // namespace dragoman::ops
