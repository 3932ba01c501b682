#pragma once

namespace dragoman::kernels {

/// Tells whether a product takes a matrix as stored or transposed.
enum class Transpose { kNo, kYes };

/// Returns: the other value.
[[nodiscard]] constexpr Transpose flipped(Transpose transpose) {
  return transpose == Transpose::kYes ? Transpose::kNo : Transpose::kYes;
}

}  // namespace dragoman::kernels
