#include "nn/convolution.h"

#include "ops/neighbours.h"

namespace dragoman::nn {

Convolution::Convolution(ParameterSet& parameters, const std::string& path, ConvolutionWindow window, int64_t d_in,
                         int64_t d_out, const LinearOptions& options)
    : path_(path),
      window_(window),
      value_(parameters, path + ".value", window.width() * d_in, d_out, options),
      gate_(parameters, path + ".gate", window.width() * d_in, d_out, options) {}

Variable Convolution::windows(const Variable& x, const Tensor& offsets) const {
  return ops::neighbours(x, offsets, window_.before, window_.after);
}

Variable Convolution::forward(const Variable& windows, const ForwardContext& context) const {
  const ops::LinearMap maps[] = {value_.map(), gate_.map()};
  const std::vector<Variable> mapped = ops::linear_each(windows, maps);  // [N, E] each
  const Variable value = value_.completed(mapped[0]), gate = gate_.completed(mapped[1]);
  const Variable gated = ops::gated_activation(gate, value, kernels::Activation::kSigmoid);  // [N, E]
  context.show(path_, "value", value.value());
  context.show(path_, "gate", gate.value());
  context.show(path_, "gated", gated.value());
  return gated;
}

}  // namespace dragoman::nn
