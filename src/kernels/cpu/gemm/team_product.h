#pragma once

#include <span>

#include "kernels/cpu/gemm/panels_cpu.h"

namespace dragoman::kernels {

/// Computes multiply_panels_of_each. If this thread has a team and the products are large enough, the team shares them.
void multiply_with_team(std::span<const PanelProduct> products, std::span<Tensor> results);

/// Returns: whether a team shares a product of this number of multiplications.
bool is_shared_out(int64_t multiplications);

}  // namespace dragoman::kernels
