#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dragoman::kernels {

/// The number format of the operands of a matrix product. Sums of float32 and bfloat16 are always float32.
/// bfloat16 keeps the range of float32 and 8 of its 24 bits. Operands are rounded to nearest even when they are packed.
/// int8 is for weights in inference; PackedMatrix describes its rounding.
enum class Precision { kFloat32, kBFloat16, kInt8 };

/// Returns: "float32", "bfloat16" or "int8".
[[nodiscard]] std::string_view name_of(Precision precision);
/// Returns: the precision of this name; none for "auto", which selects fastest_precision().
/// Throws: Error(kUsage), "precision is "half", must be one of auto, float32, bfloat16, int8".
[[nodiscard]] std::optional<Precision> precision_from(std::string_view name);

}  // namespace dragoman::kernels
