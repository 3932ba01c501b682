#pragma once

#include "base/names.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// How the frequencies of a rotation are changed for sentences longer than those of training.
enum class RotationScaling {
  kNone,    ///< unchanged
  kLinear,  ///< divided by a factor
  kLlama3,  ///< low ones divided by a factor, high ones unchanged, and a smooth passage between
};

constexpr base::Names<RotationScaling> names_of(RotationScaling) {
  return {
      "rotation_scaling",
      {{RotationScaling::kNone, "none"}, {RotationScaling::kLinear, "linear"}, {RotationScaling::kLlama3, "llama3"}}};
}

/// The inputs of a rotation of heads by their positions.
struct Rotation {
  const Tensor& x;          ///< [N, H*Dh] float32 or bfloat16; float64 in the reference
  const Tensor& positions;  ///< [N] int32
  const Tensor& table;   ///< [P, Dh]: cosines of Dh/2 angles, then their sines; of the type of x, float32 for bfloat16
  bool inverse = false;  ///< rotates by the negative angles
};

}  // namespace dragoman::kernels
