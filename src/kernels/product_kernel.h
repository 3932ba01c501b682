#pragma once

#include "kernels/precision.h"

namespace dragoman::kernels {

/// How this processor computes a matrix product of some precision.
enum class ProductKernel {
  kFloat32,              ///< fused multiply-adds
  kFloat32Amx,           ///< AMX: three bfloat16 a number, six products
  kFloat32EmulatedAmx,   ///< the same code with tiles in memory, for tests
  kBFloat16Widened,      ///< bfloat16 widened to float32, fused multiply-adds: correct anywhere, no faster than float32
  kBFloat16Dot,          ///< AVX-512 BF16
  kBFloat16Amx,          ///< AMX
  kBFloat16EmulatedAmx,  ///< the same code with tiles in memory, for tests
  kInt8Widened,          ///< int8 widened to int16: correct anywhere
  kInt8Dot,              ///< AVX-512 VNNI
  kInt8Amx,              ///< AMX
  kInt8EmulatedAmx,      ///< the same code with tiles in memory, for tests
};

/// The fastest kernel that base::active_isa() allows.
[[nodiscard]] ProductKernel product_kernel(Precision precision);

/// Whether `kernel` multiplies stored bfloat16 in tiles, of AMX or in memory.
constexpr bool has_bfloat16_tiles(ProductKernel kernel) {
  return kernel == ProductKernel::kBFloat16Amx || kernel == ProductKernel::kBFloat16EmulatedAmx;
}

/// What "auto" means here: bfloat16 where the processor multiplies it, float32 elsewhere, where widening would make
/// bfloat16 the slower one.
[[nodiscard]] Precision fastest_precision();

}  // namespace dragoman::kernels
