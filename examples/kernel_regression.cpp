// Attention as kernel regression (Nadaraya 1964, Watson 1964; the link to attention: Tsai et al. 2019).
//
//   f(q) = sum_i  K((q - x_i) / w) / sum_j K((q - x_j) / w)  *  y_i        query q, keys x_i, values y_i
//                 `---------- attention weight -----------'
//
// The box, triangle and Gaussian kernels differ in which keys a query looks at. The Gaussian one is the softmax of
//   -(q - x_i)^2 / (2 w^2),   a score like the dot product of the Transformer,
// and its width w can be learned by gradient descent: 1 / (2 w^2) = e^theta, and theta is a trained variable.
// Draws kernel_regression.svg (or the file given): the fits, and below each its matrix of attention weights.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "dragoman/autograd/variable.h"
#include "dragoman/base/random.h"
#include "dragoman/ops/elementwise.h"
#include "dragoman/ops/matmul.h"
#include "dragoman/ops/softmax.h"
#include "kernel_regression_drawing.h"

namespace {

using dragoman::autograd::Tape;
using dragoman::autograd::TapeScope;
using dragoman::autograd::Variable;
using dragoman::kernels::Transpose;
using dragoman::tensor::DType;
using dragoman::tensor::Tensor;
namespace ops = dragoman::ops;

constexpr int64_t kSamples = 40, kQueries = 60;
constexpr double kEnd = 5.0, kNoise = 0.3, kWidth = 0.8;

double truth(double x) {
  return std::sin(2.0 * x) + 0.4 * x;
}

// Noisy samples of a smooth function, in order of x.
Samples draw_samples() {
  dragoman::base::Random random(1);
  Samples samples;
  for (int64_t i = 0; i < kSamples; ++i) {
    samples.x.push_back(kEnd * random.uniform());
  }
  std::ranges::sort(samples.x);
  for (const double x : samples.x) {
    samples.y.push_back(truth(x) + kNoise * random.normal());
  }
  return samples;
}

// [queries, keys]  (q - x)^2
Tensor squared_distances(const std::vector<double>& queries, const std::vector<double>& keys) {
  std::vector<double> squares;
  for (const double query : queries) {
    for (const double key : keys) {
      squares.push_back((query - key) * (query - key));
    }
  }
  return Tensor::from(squares, {int64_t(queries.size()), int64_t(keys.size())});
}

// Attention weights of a kernel that is 0 outside [-1, 1]. A query that sees no key has a row of zeros.
Tensor compact_weights(const Tensor& squares, const std::function<double(double)>& kernel) {
  Tensor weights = Tensor::empty(squares.shape(), DType::kFloat64);
  for (int64_t q = 0; q < squares.dim(0); ++q) {
    const auto distances = squares.rows(q, q + 1).span<double>();
    const auto row = weights.rows(q, q + 1).span<double>();
    double sum = 0.0;
    for (size_t i = 0; i < distances.size(); ++i) {
      sum += row[i] = kernel(std::sqrt(distances[i]) / kWidth);
    }
    for (double& weight : row) {
      weight = sum > 0.0 ? weight / sum : 0.0;
    }
  }
  return weights;
}

// Attention weights of the Gaussian kernel: softmax(-(q - x)^2 e^theta). `hidden` is added to the scores.
Variable gaussian_weights(const Tensor& squares, const Variable& theta, const Variable& hidden) {
  const Variable scores = ops::multiply(ops::scale(Variable(squares), -1.0), ops::exp(theta));  // [queries, keys]
  return ops::softmax(hidden.defined() ? ops::add(scores, hidden) : scores);
}

Variable theta_of(double width) {
  return Variable(Tensor::full({1}, -std::log(2.0 * width * width), DType::kFloat64), /*requires_grad=*/true);
}

double width_of(const Variable& theta) {
  return std::sqrt(0.5 * std::exp(-theta.value().item()));
}

// [queries, 1] = weights [queries, keys] * values [keys, 1]
Variable attend(const Variable& weights, const Samples& samples) {
  return ops::matmul(weights, Transpose::kNo, Variable(Tensor::from(samples.y, {kSamples, 1})), Transpose::kNo);
}

// Gradient descent on the squared error of predicting each sample from the others. Each is hidden from itself, else
// the best width would be 0: every sample its own prediction.
double learn_width(const Samples& samples) {
  constexpr int kSteps = 200;
  constexpr double kLearningRate = 2.0;
  Tensor diagonal = Tensor::zeros({kSamples, kSamples}, DType::kFloat64);
  for (int64_t i = 0; i < kSamples; ++i) {
    diagonal.data<double>()[i * kSamples + i] = -1e9;
  }
  const Tensor squares = squared_distances(samples.x, samples.x);
  const Variable target(Tensor::from(samples.y, {kSamples, 1}));
  Variable theta = theta_of(kWidth);
  for (int step = 0; step <= kSteps; ++step) {
    Tape tape;
    const TapeScope recording(&tape);
    const Variable prediction = attend(gaussian_weights(squares, theta, Variable(diagonal)), samples);
    const Variable loss = ops::mean(ops::square(ops::subtract(prediction, target)));
    if (step % 50 == 0) {
      fmt::print("step {:3}  width {:.4f}  loss {:.5f}\n", step, width_of(theta), loss.value().item());
    }
    tape.backward(loss);
    theta.mutable_value().fill(theta.value().item() - kLearningRate * theta.grad().item());
    theta.clear_grad();
  }
  return width_of(theta);
}

Fit make_fit(const std::string& name, const Tensor& weights, const std::vector<double>& queries,
             const Samples& samples) {
  Fit fit{name, attend(Variable(weights), samples).value().to_vector<double>(), weights.to_vector<double>(), 0.0};
  for (size_t q = 0; q < queries.size(); ++q) {
    fit.error += std::pow(fit.y[q] - truth(queries[q]), 2) / double(queries.size());
  }
  fmt::print("{:<28}  mean squared error to the true function {:.4f}\n", name, fit.error);
  return fit;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "kernel_regression.svg";
  const Samples samples = draw_samples();
  const double learned = learn_width(samples);

  Curve curve{kEnd, {}, {}};  // where the fits are asked
  for (int64_t q = 0; q < kQueries; ++q) {
    curve.x.push_back(kEnd * (double(q) + 0.5) / double(kQueries));
    curve.truth.push_back(truth(curve.x.back()));
  }
  const Tensor squares = squared_distances(curve.x, samples.x);
  const Tensor box = compact_weights(squares, [](double u) { return u <= 1.0 ? 1.0 : 0.0; });
  const Tensor triangle = compact_weights(squares, [](double u) { return std::max(0.0, 1.0 - u); });
  const Tensor gaussian = gaussian_weights(squares, theta_of(kWidth), {}).value();
  const Tensor fitted = gaussian_weights(squares, theta_of(learned), {}).value();
  draw(file, samples, curve,
       {make_fit(fmt::format("box, width {:.1f}", kWidth), box, curve.x, samples),
        make_fit(fmt::format("triangle, width {:.1f}", kWidth), triangle, curve.x, samples),
        make_fit(fmt::format("Gaussian, width {:.1f}", kWidth), gaussian, curve.x, samples),
        make_fit(fmt::format("Gaussian, learned width {:.2f}", learned), fitted, curve.x, samples)});
  fmt::print("drawn: {}\n", file);
  return 0;
}
