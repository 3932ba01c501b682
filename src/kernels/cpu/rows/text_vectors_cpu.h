#pragma once

#include <span>

#include "kernels/types.h"

namespace dragoman::kernels {

/// Means and lengths in float32, summed in float64 in the order of the rows and of the columns. The rows of a text are
/// read once, so plain loops cost nothing beside the encoder that computed them.
void mean_of_texts_cpu(const Tensor& x, std::span<const int32_t> offsets, Tensor& means);
void mean_of_texts_backward_cpu(const Tensor& grad_means, std::span<const int32_t> offsets, Tensor& grad_x);
void unit_rows_cpu(const Tensor& x, Tensor& y);
void unit_rows_backward_cpu(const Tensor& x, const Tensor& grad_y, Tensor& grad_x);

}  // namespace dragoman::kernels
