#include "training/muon.h"

#include <algorithm>
#include <cmath>

#include "kernels/backends/backend_of.h"
#include "tensor/transfer.h"

namespace dragoman::training {
namespace {

using kernels::Precision;
using kernels::Transpose;
using tensor::HostEdit;
using tensor::HostView;
using tensor::Tensor;

constexpr int kSteps = 5;
constexpr int64_t kStrips = 4, kLarge = 256;
constexpr float kA = 3.4445F, kB = -4.7750F, kC = 2.0315F;
constexpr double kEpsilon = 1e-7;  // against a division by 0

void multiply(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, Tensor& c,
              Precision precision) {
  kernels::backend_of(c).gemm({.a = a,
                               .transpose_a = transpose_a,
                               .b = b,
                               .transpose_b = transpose_b,
                               .bias = nullptr,
                               .c = c,
                               .accumulate = false,
                               .precision = precision});
}

void copy_above_diagonal_below(Tensor& square) {
  const auto n = static_cast<size_t>(square.dim(0));
  Tensor flat = square.reshape({square.size()});
  HostEdit<float> elements(flat);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      elements.span()[i * n + j] = elements.span()[j * n + i];
    }
  }
}

// square = X X^T if X stands as it is, X^T X if it is transposed [n, n]. The host computes strips of rows from the
// diagonal on, and copies the rest. A GPU multiplies faster than it would copy.
void multiply_with_itself(const Tensor& x, Transpose transpose, Tensor& square, Precision precision) {
  const bool by_columns = transpose == Transpose::kYes;
  const int64_t n = square.dim(0);
  const int64_t strip = square.device().is_host() && n >= kLarge ? (n + kStrips - 1) / kStrips : n;
  const auto part = [&](int64_t begin, int64_t end) { return by_columns ? x.columns(begin, end) : x.rows(begin, end); };
  for (int64_t begin = 0; begin < n; begin += strip) {
    const int64_t end = std::min(begin + strip, n);
    Tensor upper = square.rows(begin, end).columns(begin, n);
    multiply(part(begin, end), transpose, part(begin, n), by_columns ? Transpose::kNo : Transpose::kYes, upper,
             precision);
  }
  if (strip < n) {
    copy_above_diagonal_below(square);
  }
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

Tensor orthogonalised(const Tensor& matrix, Precision precision) {
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
    multiply_with_itself(x, is_wide ? Transpose::kNo : Transpose::kYes, gram, precision);
    multiply_with_itself(gram, Transpose::kNo, polynomial, precision);
    make_polynomial(gram, polynomial);
    is_wide ? multiply(polynomial, Transpose::kNo, x, Transpose::kNo, next, precision)
            : multiply(x, Transpose::kNo, polynomial, Transpose::kNo, next, precision);
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

void muon_step(Tensor& weight, const Tensor& direction, double learning_rate, double weight_decay,
               Precision precision) {
  const Tensor step = orthogonalised(direction, precision);  // [R, C]
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
