#include "ops/product_kernel.h"

#include "base/cpu.h"
#include "base/error.h"

namespace dragoman::ops {

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return "float32";
    case Precision::kBFloat16:
      return "bfloat16";
    case Precision::kInt8:
      return "int8";
  }
  return "unknown";
}

std::optional<Precision> precision_from(std::string_view name) {
  if (name == "auto") {
    return std::nullopt;
  }
  for (const auto precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    if (name_of(precision) == name) {
      return precision;
    }
  }
  base::fail(base::ErrorKind::kUsage, "precision is \"{}\", must be one of auto, float32, bfloat16, int8", name);
}

namespace {

ProductKernel int8_kernel() {
  const base::Isa isa = base::active_isa();
  if (isa == base::Isa::kAmx) {
    return base::amx_is_emulated() ? ProductKernel::kInt8EmulatedAmx : ProductKernel::kInt8Amx;
  }
  return isa >= base::Isa::kVnni ? ProductKernel::kInt8Dot : ProductKernel::kInt8Widened;
}

}  // namespace

ProductKernel product_kernel(Precision precision) {
  if (precision == Precision::kFloat32) {
    return ProductKernel::kFloat32;
  }
  if (precision == Precision::kInt8) {
    return int8_kernel();
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
