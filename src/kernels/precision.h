#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dragoman::kernels {

/// Number format of the operands of a matrix product; sums are float32 always.
/// bfloat16 keeps the range of float32 and 8 of its 24 bits; operands are rounded to nearest even as they are packed.
/// int8 is for weights of inference (PackedMatrix says how it rounds).
enum class Precision { kFloat32, kBFloat16, kInt8 };

/// "float32", "bfloat16" or "int8".
[[nodiscard]] std::string_view name_of(Precision precision);
/// The precision of that name; none for "auto", which leaves the choice to the machine.
/// Throws Error(kUsage): "precision is "half", must be one of auto, float32, bfloat16, int8".
[[nodiscard]] std::optional<Precision> precision_from(std::string_view name);

}  // namespace dragoman::kernels
