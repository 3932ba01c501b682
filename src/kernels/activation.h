#pragma once

#include "base/names.h"

namespace dragoman::kernels {

/// The nonlinearity of a feed-forward layer.
enum class Activation {
  kNone,  ///< x
  kRelu,  ///< max(0, x)
  kGelu,  ///< x Phi(x), Phi = cumulative normal distribution (the erf form; Hendrycks and Gimpel 2016, section 2)
  kSilu,  ///< x / (1 + exp(-x)) (Elfwing et al. 2017; "swish")
};

constexpr base::Names<Activation> names_of(Activation) {
  return {"activation", {{Activation::kRelu, "relu"}, {Activation::kGelu, "gelu"}, {Activation::kSilu, "silu"}}};
}

}  // namespace dragoman::kernels
