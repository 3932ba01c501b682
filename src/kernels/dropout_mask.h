#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/dropout.h"

namespace dragoman::kernels {

/// Returns: the threshold below which half-words are dropped. It is at most 65535, so that the scale stays finite.
inline uint32_t dropout_threshold(const Dropout& dropout) {
  return static_cast<uint32_t>(std::min(std::lround(static_cast<double>(dropout.probability) * 65536.0), 65535L));
}

/// Returns: the factor of kept values.
inline double dropout_scale(const Dropout& dropout) {
  return 65536.0 / (65536.0 - dropout_threshold(dropout));
}

}  // namespace dragoman::kernels
