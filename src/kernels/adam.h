#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace dragoman::tensor {
class Tensor;
}

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
  /// Null, or the result of Backend::clip_factors, whose factor replaces gradient_scale. If it is NaN, the update
  /// changes nothing.
  const tensor::Tensor* clipping = nullptr;
};

/// Returns: what gradients of this norm are multiplied with so that their norm is at most `clip_norm`; 1 if clip_norm
/// is 0, NaN if the norm is not finite.
inline double clip_factor(double norm, double clip_norm) {
  if (!std::isfinite(norm)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return clip_norm > 0.0 && norm > clip_norm ? clip_norm / norm : 1.0;
}

/// The scalars of an update as kernels in float32 use them:
///   g = scale * grad;  m = beta1 m + rest1 g;  v = beta2 v + rest2 g^2;  w = keep w - rate m / (root_scale sqrt(v) +
///   epsilon)
struct AdamFactors {
  float beta1, rest1;  ///< rest = 1 - beta
  float beta2, rest2;
  float gradient_scale;
  float rate;        ///< learning rate / (1 - beta1^t)
  float root_scale;  ///< 1 / sqrt(1 - beta2^t)
  float epsilon;
  float keep;  ///< 1 - learning rate * weight decay
};

/// Returns: the factors, computed in float64.
inline AdamFactors adam_factors(const AdamScalars& scalars) {
  const auto step = static_cast<double>(scalars.step);
  const auto narrow = [](double value) { return static_cast<float>(value); };
  return {.beta1 = narrow(scalars.beta1),
          .rest1 = narrow(1.0 - scalars.beta1),
          .beta2 = narrow(scalars.beta2),
          .rest2 = narrow(1.0 - scalars.beta2),
          .gradient_scale = narrow(scalars.gradient_scale),
          .rate = narrow(scalars.learning_rate / (1.0 - std::pow(scalars.beta1, step))),
          .root_scale = narrow(1.0 / std::sqrt(1.0 - std::pow(scalars.beta2, step))),
          .epsilon = narrow(scalars.epsilon),
          .keep = narrow(1.0 - scalars.learning_rate * scalars.weight_decay)};
}

}  // namespace dragoman::kernels
