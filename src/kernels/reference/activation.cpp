#include "kernels/reference/activation.h"

#include <cmath>
#include <numbers>

#include "kernels/reference/dropout.h"
#include "kernels/row_of.h"

namespace dragoman::kernels::reference {
namespace {

double cumulative_normal(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

// The argument of the tanh of kGeluTanh.
double tanh_argument(double x) {
  return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
}

double value(Activation activation, double x) {
  switch (activation) {
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kGelu:
      return x * cumulative_normal(x);
    case Activation::kSilu:
      return x * sigmoid(x);
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(tanh_argument(x)));
    case Activation::kReluSquared:
      return x < 0 ? 0 : x * x;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return sigmoid(x);
    case Activation::kNone:
      break;
  }
  return x;
}

double slope(Activation activation, double x) {
  switch (activation) {
    case Activation::kRelu:
      return x > 0 ? 1 : 0;
    case Activation::kGelu:
      return cumulative_normal(x) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    case Activation::kSilu:
      return sigmoid(x) * (1 + x * (1 - sigmoid(x)));
    case Activation::kGeluTanh: {
      const double tanh = std::tanh(tanh_argument(x));
      const double change = std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);  // of tanh_argument
      return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * change;
    }
    case Activation::kReluSquared:
      return x > 0 ? 2 * x : 0;
    case Activation::kTanh:
      return 1 - std::tanh(x) * std::tanh(x);
    case Activation::kSigmoid:
      return sigmoid(x) * (1 - sigmoid(x));
    case Activation::kNone:
      break;
  }
  return 1;
}

}  // namespace

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

void activation(const Tensor& x, Activation activation, const Dropout& dropout, Tensor& y) {
  for (int64_t row = 0; row < x.dim(0); ++row) {
    for (int64_t c = 0; c < x.dim(1); ++c) {
      y.data<double>()[row * y.stride(0) + c] =
          value(activation, x.data<double>()[row * x.stride(0) + c]) * dropout_factor(dropout, row, c);
    }
  }
}

void activation_backward(const Tensor& saved, const Tensor& grad_y, Activation activation, const Dropout& dropout,
                         Tensor& grad_x) {
  for (int64_t row = 0; row < saved.dim(0); ++row) {
    for (int64_t c = 0; c < saved.dim(1); ++c) {
      // undoes y = value(x) * dropout factor
      grad_x.data<double>()[row * grad_x.stride(0) + c] =
          grad_y.data<double>()[row * grad_y.stride(0) + c] *
          slope(activation, saved.data<double>()[row * saved.stride(0) + c]) * dropout_factor(dropout, row, c);
    }
  }
}

void gated_activation(const GatedInputs& inputs, Tensor& y) {
  for (int64_t row = 0; row < y.dim(0); ++row) {
    const double *gate = row_of<double>(inputs.gate, row), *up = row_of<double>(inputs.up, row);
    for (int64_t c = 0; c < y.dim(1); ++c) {
      row_of<double>(y, row)[c] = value(inputs.activation, gate[c]) * up[c] * dropout_factor(inputs.dropout, row, c);
    }
  }
}

void gated_activation_backward(const GatedInputs& inputs, const Tensor& grad_y, const GatedGradients& gradients) {
  for (int64_t row = 0; row < grad_y.dim(0); ++row) {
    const double *gate = row_of<double>(inputs.gate, row), *up = row_of<double>(inputs.up, row);
    for (int64_t c = 0; c < grad_y.dim(1); ++c) {
      // undoes y = value(gate) * up * dropout factor
      const double grad = row_of<double>(grad_y, row)[c] * dropout_factor(inputs.dropout, row, c);
      row_of<double>(gradients.gate, row)[c] = grad * up[c] * slope(inputs.activation, gate[c]);
      row_of<double>(gradients.up, row)[c] = grad * value(inputs.activation, gate[c]);
    }
  }
}

}  // namespace dragoman::kernels::reference
