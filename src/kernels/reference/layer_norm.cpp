#include "kernels/reference/layer_norm.h"

#include <cmath>
#include <vector>

#include "kernels/reference/dropout.h"

namespace dragoman::kernels::reference {

void layer_norm(const LayerNormForward& norm) {
  const int64_t width = norm.x.dim(1);
  const double* gain = norm.gain.data<double>();
  const std::vector<double> zeros(norm.bias.defined() ? 0 : static_cast<size_t>(width));
  const double* bias = norm.bias.defined() ? norm.bias.data<double>() : zeros.data();
  for (int64_t row = 0; row < norm.x.dim(0); ++row) {
    const double* x = norm.x.data<double>() + row * norm.x.stride(0);
    double* y = norm.y.data<double>() + row * norm.y.stride(0);
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < width && norm.kind == NormKind::kLayer; ++c) {
      mean += x[c] / static_cast<double>(width);
    }
    for (int64_t c = 0; c < width; ++c) {
      variance += (x[c] - mean) * (x[c] - mean) / static_cast<double>(width);
    }
    const double rstd = 1.0 / std::sqrt(variance + static_cast<double>(norm.epsilon));
    for (int64_t c = 0; c < width; ++c) {
      y[c] = (x[c] - mean) * rstd * gain[c] + bias[c];
    }
    norm.stats.data<double>()[2 * row] = mean;
    norm.stats.data<double>()[2 * row + 1] = rstd;
  }
}

void layer_norm_backward(const LayerNormBackward& norm) {
  const int64_t width = norm.x.dim(1);
  norm.grad_gain.zero();
  double* grad_bias = norm.grad_bias.defined() ? norm.grad_bias.data<double>() : nullptr;
  if (grad_bias != nullptr) {
    norm.grad_bias.zero();
  }
  for (int64_t row = 0; row < norm.x.dim(0); ++row) {
    const double* x = norm.x.data<double>() + row * norm.x.stride(0);
    const double* grad_y = norm.grad_y.data<double>() + row * norm.grad_y.stride(0);
    double* grad_x = norm.grad_x.data<double>() + row * norm.grad_x.stride(0);
    const double mean = norm.stats.data<double>()[2 * row], rstd = norm.stats.data<double>()[2 * row + 1];
    double mean_scaled = 0, mean_projected = 0;  // means over the row of g = dy * gain, and of g * normal
    for (int64_t c = 0; c < width; ++c) {
      const double normal = (x[c] - mean) * rstd;
      const double scaled = grad_y[c] * norm.gain.data<double>()[c];  // undoes y = normal * gain + bias
      mean_scaled += norm.kind == NormKind::kLayer ? scaled / static_cast<double>(width) : 0;
      mean_projected += scaled * normal / static_cast<double>(width);
      norm.grad_gain.data<double>()[c] += grad_y[c] * normal;  // undoes normal * gain
      if (grad_bias != nullptr) {
        grad_bias[c] += grad_y[c];  // undoes + bias
      }
    }
    for (int64_t c = 0; c < width; ++c) {
      const double normal = (x[c] - mean) * rstd, scaled = grad_y[c] * norm.gain.data<double>()[c];
      // undoes normal = (x - mean) * rstd; the two means come from mean(x), which kRms has not, and from rstd(x)
      grad_x[c] = rstd * (scaled - mean_scaled - normal * mean_projected);
    }
  }
}

void residual_dropout(const Tensor& residual, const Tensor& sublayer, const Dropout& dropout, Tensor& sum) {
  for (int64_t row = 0; row < sum.dim(0); ++row) {
    const double* left = residual.data<double>() + row * residual.stride(0);
    const double* right = sublayer.data<double>() + row * sublayer.stride(0);
    for (int64_t c = 0; c < sum.dim(1); ++c) {
      sum.data<double>()[row * sum.stride(0) + c] = left[c] + right[c] * dropout_factor(dropout, row, c);
    }
  }
}

}  // namespace dragoman::kernels::reference
