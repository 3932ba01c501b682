#include "nn/convolution.h"

#include "ops/neighbours.h"

namespace dragoman::nn {

Convolution::Convolution(ParameterSet& parameters, const std::string& path, ConvolutionWindow window, int64_t d_in,
                         int64_t d_out, float deviation)
    : window_(window),
      value_(parameters, path + ".value", window.width() * d_in, d_out, {.deviation = deviation}),
      gate_(parameters, path + ".gate", window.width() * d_in, d_out, {.deviation = deviation}) {}

Variable Convolution::windows(const Variable& x, const Tensor& offsets) const {
  return ops::neighbours(x, offsets, window_.before, window_.after);
}

Variable Convolution::forward(const Variable& windows) const {
  const ops::LinearMap maps[] = {value_.map(), gate_.map()};
  const std::vector<Variable> mapped = ops::linear_each(windows, maps);               // [N, E] each
  return ops::gated_activation(mapped[1], mapped[0], kernels::Activation::kSigmoid);  // [N, E]
}

}  // namespace dragoman::nn
