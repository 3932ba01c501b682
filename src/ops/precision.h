#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dragoman::ops {

/// Number format of the operands of a matrix product; sums are float32 always.
/// bfloat16 keeps the range of float32 and 8 of its 24 bits; operands are rounded to nearest even as they are packed.
enum class Precision { kFloat32, kBFloat16 };

/// "float32" or "bfloat16".
std::string_view name_of(Precision precision);
/// The precision of that name; none for "auto", which leaves the choice to the machine.
/// Throws Error(kUsage): "precision is "half", must be one of auto, float32, bfloat16".
std::optional<Precision> precision_from(std::string_view name);

}  // namespace dragoman::ops
