#pragma once

#include <string>

#include "nn/context.h"
#include "nn/linear.h"

namespace dragoman::nn {

/// The rows that a convolution sees around a row.
struct ConvolutionWindow {
  int64_t before = 0;  ///< rows before it
  int64_t after = 0;   ///< rows behind it; 0 in a decoder

  int64_t width() const { return before + 1 + after; }
};

/// Computes a convolution with a gated linear unit:  y = (w A + a) * sigmoid(w B + b), w [N, K*D] the rows around each
/// row (ops::neighbours). The parameters are PATH.value.{weight,bias} and PATH.gate.{weight,bias}, weights [K*D, E].
/// Source: Dauphin et al. 2017; Gehring et al. 2017, section 3.2.
class Convolution {
 public:
  /// @param options  of both maps
  Convolution(ParameterSet& parameters, const std::string& path, ConvolutionWindow window, int64_t d_in, int64_t d_out,
              const LinearOptions& options);
  /// @param x  [N, D] of ragged rows;  @return w [N, K*D]
  Variable windows(const Variable& x, const Tensor& offsets) const;
  /// @param windows  [N, K*D];  @return [N, E].   Shows value, gate (both before the sigmoid) and gated
  Variable forward(const Variable& windows, const ForwardContext& context) const;
  const ConvolutionWindow& window() const { return window_; }

 private:
  std::string path_;
  ConvolutionWindow window_;
  Linear value_;
  Linear gate_;
};

}  // namespace dragoman::nn
