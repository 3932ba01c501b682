#include "training/muon.h"

#include <algorithm>
#include <cmath>

#include "kernels/backends/backend_of.h"
#include "tensor/transfer.h"

namespace dragoman::training {
namespace {

using tensor::HostEdit;
using tensor::HostView;
using tensor::Tensor;

constexpr int kSteps = 5;
constexpr float kA = 3.4445F, kB = -4.7750F, kC = 2.0315F;
constexpr double kEpsilon = 1e-7;  // against a division by 0

void multiply(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b, Tensor& c) {
  const auto as = [](bool transposed) { return transposed ? kernels::Transpose::kYes : kernels::Transpose::kNo; };
  kernels::backend_of(c).gemm(
      {a, as(transpose_a), b, as(transpose_b), nullptr, c, false, kernels::Precision::kFloat32});
}

// square = a I + b gram + c square
void make_polynomial(const Tensor& gram, Tensor& square) {
  const auto n = static_cast<size_t>(gram.dim(0));
  Tensor flat = square.reshape({square.size()});
  const HostView<float> first(gram.reshape({gram.size()}));
  HostEdit<float> sum(flat);
  for (size_t i = 0; i < n * n; ++i) {
    sum.span()[i] = kB * first[i] + kC * sum.span()[i];
  }
  for (size_t i = 0; i < n; ++i) {
    sum.span()[i * n + i] += kA;
  }
}

}  // namespace

Tensor orthogonalised(const Tensor& matrix) {
  const bool is_wide = matrix.dim(0) <= matrix.dim(1);
  const int64_t n = is_wide ? matrix.dim(0) : matrix.dim(1);
  Tensor x = matrix.clone(), next = Tensor::empty(matrix.shape());          // [R, C]
  Tensor gram = Tensor::empty({n, n}), polynomial = Tensor::empty({n, n});  // of the shorter side
  {
    Tensor flat = x.reshape({x.size()});
    const auto inverse = static_cast<float>(1.0 / (std::sqrt(kernels::backend_of(x).sum_of_squares(flat)) + kEpsilon));
    HostEdit<float> elements(flat);
    std::ranges::transform(elements.span(), elements.span().begin(), [&](float value) { return value * inverse; });
  }
  for (int step = 0; step < kSteps; ++step) {
    multiply(x, !is_wide, x, is_wide, gram);  // X X^T, or X^T X
    multiply(gram, false, gram, false, polynomial);
    make_polynomial(gram, polynomial);
    is_wide ? multiply(polynomial, false, x, false, next) : multiply(x, false, polynomial, false, next);
    std::swap(x, next);
  }
  return x;
}

double muon_scale(int64_t rows, int64_t columns) {
  return 0.2 * std::sqrt(static_cast<double>(std::max(rows, columns)));
}

void muon_direction(const Tensor& gradients, Tensor& momentum, Tensor& direction, const MuonScalars& scalars) {
  const auto keep = static_cast<float>(scalars.momentum);
  const auto add = static_cast<float>((1.0 - scalars.momentum) * scalars.gradient_scale);
  const HostView<float> gradient(gradients);
  HostEdit<float> kept(momentum), to(direction);
  for (size_t i = 0; i < gradient.size(); ++i) {
    const float part = add * gradient[i];
    kept.span()[i] = keep * kept.span()[i] + part;
    to.span()[i] = keep * kept.span()[i] + part;
  }
}

void muon_step(Tensor& weight, const Tensor& direction, double learning_rate, double weight_decay) {
  const Tensor step = orthogonalised(direction);  // [R, C]
  const auto keep = static_cast<float>(1.0 - learning_rate * weight_decay);
  const auto rate = static_cast<float>(learning_rate * muon_scale(weight.dim(0), weight.dim(1)));
  Tensor flat = weight.reshape({weight.size()});
  const HostView<float> change(step.reshape({step.size()}));
  HostEdit<float> values(flat);
  for (size_t i = 0; i < change.size(); ++i) {
    values.span()[i] = keep * values.span()[i] - rate * change[i];
  }
}

}  // namespace dragoman::training
