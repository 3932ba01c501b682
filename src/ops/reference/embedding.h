#pragma once

#include "tensor/tensor.h"

namespace dragoman::ops::reference {

using tensor::Tensor;

// float64; the definition that the kernels of ops/embedding.h are tested against.

/// output[n] = scale * table[ids[n]], overwritten.
void gather_rows(const Tensor& table, const Tensor& ids, double scale, Tensor& output);
/// table_sum[ids[n]] += scale * rows[n], n rising.
void scatter_rows_accumulate(const Tensor& rows, const Tensor& ids, double scale, Tensor& table_sum);

}  // namespace dragoman::ops::reference
