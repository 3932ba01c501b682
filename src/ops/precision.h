#pragma once

namespace dragoman::ops {

/// Number format of the operands of a matrix product; sums are float32 always.
/// bfloat16 keeps the range of float32 and 8 of its 24 bits; operands are rounded to nearest even as they are packed.
enum class Precision { kFloat32, kBFloat16 };

}  // namespace dragoman::ops
