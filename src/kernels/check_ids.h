#pragma once

#include "kernels/types.h"

namespace dragoman::kernels {

/// Throws: Error unless `ids` is [size] int32, contiguous, with every element in [0, limit):
/// "embedding: ids[3] is 12, must be in [0, 10)". Elements on a device are not read.
void check_ids(const tensor::Tensor& ids, int64_t size, int64_t limit, const char* op, const char* argument);

/// Throws: Error unless the dtype is float32 or float64: "softmax: x is int32, must be float32".
void check_float(const tensor::Tensor& tensor, const char* op, const char* argument);

}  // namespace dragoman::kernels
