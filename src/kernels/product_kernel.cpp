#include "kernels/product_kernel.h"

#include "base/cpu.h"
#include "base/error.h"

namespace dragoman::kernels {

namespace {

// The kernel of tile registers, or `other` where there are none.
ProductKernel in_tiles(ProductKernel hardware, ProductKernel emulated, ProductKernel other) {
  if (base::active_isa() < base::Isa::kAmx) {
    return other;
  }
  return base::amx_is_emulated() ? emulated : hardware;
}

}  // namespace

ProductKernel product_kernel(Precision precision) {
  const base::Isa isa = base::active_isa();
  switch (precision) {
    case Precision::kFloat32:
      return in_tiles(ProductKernel::kFloat32Amx, ProductKernel::kFloat32EmulatedAmx, ProductKernel::kFloat32);
    case Precision::kBFloat16:
      return in_tiles(ProductKernel::kBFloat16Amx, ProductKernel::kBFloat16EmulatedAmx,
                      isa >= base::Isa::kBf16 ? ProductKernel::kBFloat16Dot : ProductKernel::kBFloat16Widened);
    default:
      return in_tiles(ProductKernel::kInt8Amx, ProductKernel::kInt8EmulatedAmx,
                      isa >= base::Isa::kVnni ? ProductKernel::kInt8Dot : ProductKernel::kInt8Widened);
  }
}

Precision fastest_precision() {
  return product_kernel(Precision::kBFloat16) == ProductKernel::kBFloat16Widened ? Precision::kFloat32
                                                                                 : Precision::kBFloat16;
}

}  // namespace dragoman::kernels
