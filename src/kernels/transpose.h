#pragma once

namespace dragoman::kernels {

/// Whether a matrix enters a product as it is or transposed.
enum class Transpose { kNo, kYes };

/// The other one.
[[nodiscard]] constexpr Transpose flipped(Transpose transpose) {
  return transpose == Transpose::kYes ? Transpose::kNo : Transpose::kYes;
}

}  // namespace dragoman::kernels
