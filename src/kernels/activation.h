#pragma once

#include "base/names.h"

namespace dragoman::kernels {

/// The nonlinearity of a feed-forward layer.
enum class Activation {
  kNone,      ///< x
  kRelu,      ///< max(0, x)
  kGelu,      ///< x Phi(x), Phi = cumulative normal distribution (the erf form; Hendrycks and Gimpel 2016, section 2)
  kSilu,      ///< x / (1 + exp(-x)) (Elfwing et al. 2017; "swish")
  kGeluTanh,  ///< 1/2 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is near kGelu (ibid.; GPT-2's "gelu_new")
  kReluSquared,  ///< max(0, x)^2 (So et al. 2021, "Primer", section 3.2)
  kTanh,         ///< tanh(x), of recurrent models; no option of a feed-forward layer
  kSigmoid,      ///< 1 / (1 + exp(-x)), of gates; no option of a feed-forward layer
};

constexpr base::Names<Activation> names_of(Activation) {
  return {"activation",
          {{Activation::kRelu, "relu"},
           {Activation::kGelu, "gelu"},
           {Activation::kSilu, "silu"},
           {Activation::kGeluTanh, "gelu-tanh"},
           {Activation::kReluSquared, "relu-squared"}}};
}

}  // namespace dragoman::kernels
