#include "ops/product_kernel.h"

#include "base/cpu.h"

namespace dragoman::ops {

ProductKernel product_kernel(Precision precision) {
  if (precision == Precision::kFloat32) {
    return ProductKernel::kFloat32;
  }
  return base::active_isa() >= base::Isa::kBf16 ? ProductKernel::kBFloat16Dot : ProductKernel::kBFloat16Widened;
}

}  // namespace dragoman::ops
