#pragma once

#include "base/names.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// Which statistics a norm divides out: of a row, or of a column.
enum class NormKind {
  kLayer,  ///< mean and standard deviation (Ba et al. 2016)
  kRms,    ///< root mean square, with no mean and no bias (Zhang and Sennrich 2019)
  kBatch,  ///< mean and standard deviation of each column over the rows of a batch (Ioffe and Szegedy 2015). It is no
           ///< norm of rows: ops::batch_norm computes it
};

constexpr base::Names<NormKind> names_of(NormKind) {
  return {"norm", {{NormKind::kLayer, "layer"}, {NormKind::kRms, "rms"}, {NormKind::kBatch, "batch"}}};
}

/// Inputs and outputs of one norm. The CPU kernels take float32, the reference takes float64. In kRms the mean is 0 and
/// the variance is the mean of x^2.
struct LayerNormForward {
  const Tensor& x;     ///< [N, D]
  const Tensor& gain;  ///< [D]
  const Tensor& bias;  ///< [D]; undefined for none
  float epsilon;
  Tensor& y;                  ///< [N, D], overwritten
  Tensor& stats;              ///< [N, 2], overwritten: mean, and rstd = 1 / sqrt(variance + epsilon)
  Tensor* rounded = nullptr;  ///< [N, D] bfloat16, overwritten with y rounded; null if not requested
  NormKind kind = NormKind::kLayer;
};

/// Inputs and outputs of the backward of one norm.
struct LayerNormBackward {
  const Tensor& x;
  const Tensor& stats;  ///< mean and rstd of each row, from the forward
  const Tensor& gain;
  const Tensor& grad_y;
  Tensor& grad_x;     ///< [N, D], overwritten
  Tensor& grad_gain;  ///< [D], overwritten
  Tensor& grad_bias;  ///< [D], overwritten; undefined if there is no bias
  NormKind kind = NormKind::kLayer;
};

}  // namespace dragoman::kernels
