#pragma once

#include "kernels/precision.h"

namespace dragoman::kernels {

/// The kernels of matrix products, of which a processor supports some.
enum class ProductKernel {
  kFloat32,              ///< fused multiply-adds
  kFloat32Amx,           ///< AMX: each number as three bfloat16, six products
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

/// Returns: the fastest kernel for this precision that base::active_isa() allows.
[[nodiscard]] ProductKernel product_kernel(Precision precision);

/// Returns: whether `kernel` multiplies stored bfloat16 in tiles, of AMX or in memory.
constexpr bool has_bfloat16_tiles(ProductKernel kernel) {
  return kernel == ProductKernel::kBFloat16Amx || kernel == ProductKernel::kBFloat16EmulatedAmx;
}

/// Returns: the precision of "auto" on this machine. It is bfloat16 if the processor multiplies bfloat16, otherwise
/// float32, because widening makes bfloat16 slower.
[[nodiscard]] Precision fastest_precision();

}  // namespace dragoman::kernels
