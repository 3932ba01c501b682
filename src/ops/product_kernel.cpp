#include "ops/product_kernel.h"

#include "base/cpu.h"
#include "base/error.h"

namespace dragoman::ops {

std::string_view name_of(Precision precision) {
  return precision == Precision::kBFloat16 ? "bfloat16" : "float32";
}

std::optional<Precision> precision_from(std::string_view name) {
  if (name == "auto") {
    return std::nullopt;
  }
  for (const auto precision : {Precision::kFloat32, Precision::kBFloat16}) {
    if (name_of(precision) == name) {
      return precision;
    }
  }
  base::fail(base::ErrorKind::kUsage, "precision is \"{}\", must be one of auto, float32, bfloat16", name);
}

ProductKernel product_kernel(Precision precision) {
  if (precision == Precision::kFloat32) {
    return ProductKernel::kFloat32;
  }
  switch (base::active_isa()) {
    case base::Isa::kAmx:
      return base::amx_is_emulated() ? ProductKernel::kBFloat16EmulatedAmx : ProductKernel::kBFloat16Amx;
    case base::Isa::kBf16:
      return ProductKernel::kBFloat16Dot;
    default:
      return ProductKernel::kBFloat16Widened;
  }
}

Precision fastest_precision() {
  return product_kernel(Precision::kBFloat16) == ProductKernel::kBFloat16Widened ? Precision::kFloat32
                                                                                 : Precision::kBFloat16;
}

}  // namespace dragoman::ops
