#pragma once

#include <span>

#include "kernels/cpu/gemm/panels_cpu.h"

namespace dragoman::kernels {

/// multiply_panels_of_each, shared out over the team of this thread when it has one and the products are worth it.
void multiply_with_team(std::span<const PanelProduct> products, std::span<Tensor> results);

/// Whether a product of so many multiplications is shared out.
bool is_shared_out(int64_t multiplications);

}  // namespace dragoman::kernels
