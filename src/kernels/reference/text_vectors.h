#pragma once

#include <span>

#include "kernels/types.h"

namespace dragoman::kernels::reference {

// Plain float64 loops: the definitions of the mean of the rows of each text, and of rows of length 1.

void mean_of_texts(const Tensor& x, std::span<const int32_t> offsets, Tensor& means);
void mean_of_texts_backward(const Tensor& grad_means, std::span<const int32_t> offsets, Tensor& grad_x);
void unit_rows(const Tensor& x, Tensor& y);
void unit_rows_backward(const Tensor& x, const Tensor& grad_y, Tensor& grad_x);

}  // namespace dragoman::kernels::reference
