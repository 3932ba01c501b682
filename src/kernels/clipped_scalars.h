#pragma once

#include <cmath>
#include <optional>

#include "kernels/adam.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// Returns: the scalars with the factor of `clipping`, which is in host memory; nothing if it is NaN.
inline std::optional<AdamScalars> clipped(AdamScalars scalars) {
  if (scalars.clipping != nullptr) {
    scalars.gradient_scale = scalars.clipping->data<double>()[0];
    scalars.clipping = nullptr;
  }
  return std::isnan(scalars.gradient_scale) ? std::nullopt : std::optional(scalars);
}

}  // namespace dragoman::kernels
