#include "kernels/precision.h"

#include "base/error.h"

namespace dragoman::kernels {

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return "float32";
    case Precision::kBFloat16:
      return "bfloat16";
    case Precision::kInt8:
      return "int8";
  }
  return "unknown";
}

std::optional<Precision> precision_from(std::string_view name) {
  if (name == "auto") {
    return std::nullopt;
  }
  for (const auto precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    if (name_of(precision) == name) {
      return precision;
    }
  }
  base::fail(base::ErrorKind::kUsage, "precision is \"{}\", must be one of auto, float32, bfloat16, int8", name);
}

}  // namespace dragoman::kernels
