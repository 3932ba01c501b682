#pragma once

#include <cstdint>

namespace dragoman::kernels {

/// The scalars of one Adam update.
struct AdamScalars {
  double learning_rate = 0;   ///< alpha
  double beta1 = 0.9;         ///< decay of the first moment, [0, 1)
  double beta2 = 0.98;        ///< decay of the second moment, [0, 1)
  double epsilon = 1e-9;      ///< added to the root of the second moment
  double weight_decay = 0;    ///< decoupled, times the learning rate; 0 = plain Adam
  double gradient_scale = 1;  ///< multiplied into the gradients first (clipping)
  int64_t step = 1;           ///< t, number of this update, from 1
};

}  // namespace dragoman::kernels
