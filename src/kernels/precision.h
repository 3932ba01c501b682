#pragma once

#include "base/names.h"

namespace dragoman::kernels {

/// Number format of the operands of a matrix product; sums are float32 always.
/// bfloat16 keeps the range of float32 and 8 of its 24 bits; operands are rounded to nearest even as they are packed.
/// int8 is for weights of inference (PackedMatrix says how it rounds).
/// An empty std::optional<Precision>, called "auto", leaves the choice to the machine.
enum class Precision { kFloat32, kBFloat16, kInt8 };

constexpr base::Names<Precision> names_of(Precision) {
  return {"precision",
          {{Precision::kFloat32, "float32"}, {Precision::kBFloat16, "bfloat16"}, {Precision::kInt8, "int8"}}};
}
using base::name_of;

}  // namespace dragoman::kernels
