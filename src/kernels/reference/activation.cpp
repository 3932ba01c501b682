#include "kernels/reference/activation.h"

#include <cmath>
#include <numbers>

#include "kernels/reference/dropout.h"

namespace dragoman::kernels::reference {
namespace {

double cumulative_normal(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

double value(Activation activation, double x) {
  switch (activation) {
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kGelu:
      return x * cumulative_normal(x);
    case Activation::kSilu:
      return x * sigmoid(x);
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
    case Activation::kNone:
      break;
  }
  return 1;
}

}  // namespace

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

}  // namespace dragoman::kernels::reference
