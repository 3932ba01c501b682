#include "kernels/cpu/rows/text_vectors_cpu.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/row_of.h"
#include "kernels/text_vectors.h"

namespace dragoman::kernels {
namespace {

double dot_in_float64(const float* x, const float* y, int64_t columns) {
  double sum = 0;
  for (int64_t c = 0; c < columns; ++c) {
    sum += static_cast<double>(x[c]) * static_cast<double>(y[c]);
  }
  return sum;
}

}  // namespace

void mean_of_texts_cpu(const Tensor& x, std::span<const int32_t> offsets, Tensor& means) {
  const int64_t columns = x.dim(1);
  std::vector<double> sums(static_cast<size_t>(columns));
  for (int64_t b = 0; b < means.dim(0); ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], end = offsets[static_cast<size_t>(b + 1)];
    std::ranges::fill(sums, 0.0);
    for (int64_t n = begin; n < end; ++n) {
      const float* row = row_of<float>(x, n);
      for (int64_t c = 0; c < columns; ++c) {
        sums[static_cast<size_t>(c)] += static_cast<double>(row[c]);
      }
    }
    float* mean = row_of<float>(means, b);
    for (int64_t c = 0; c < columns; ++c) {
      mean[c] = static_cast<float>(sums[static_cast<size_t>(c)] / static_cast<double>(end - begin));
    }
  }
}

void mean_of_texts_backward_cpu(const Tensor& grad_means, std::span<const int32_t> offsets, Tensor& grad_x) {
  for (int64_t b = 0; b < grad_means.dim(0); ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], end = offsets[static_cast<size_t>(b + 1)];
    const float* of_mean = row_of<float>(grad_means, b);
    const float share = 1.0F / static_cast<float>(end - begin);
    for (int64_t n = begin; n < end; ++n) {
      float* row = row_of<float>(grad_x, n);
      for (int64_t c = 0; c < grad_x.dim(1); ++c) {
        row[c] = share * of_mean[c];
      }
    }
  }
}

void unit_rows_cpu(const Tensor& x, Tensor& y) {
  for (int64_t n = 0; n < x.dim(0); ++n) {
    const float* from = row_of<float>(x, n);
    float* to = row_of<float>(y, n);
    const double length = std::max(std::sqrt(dot_in_float64(from, from, x.dim(1))), kLeastLength);
    for (int64_t c = 0; c < x.dim(1); ++c) {
      to[c] = static_cast<float>(static_cast<double>(from[c]) / length);
    }
  }
}

void unit_rows_backward_cpu(const Tensor& x, const Tensor& grad_y, Tensor& grad_x) {
  for (int64_t n = 0; n < x.dim(0); ++n) {
    const float *row = row_of<float>(x, n), *grad = row_of<float>(grad_y, n);
    float* to = row_of<float>(grad_x, n);
    const double squares = dot_in_float64(row, row, x.dim(1)), length = std::sqrt(squares);
    const double part = length > kLeastLength ? dot_in_float64(row, grad, x.dim(1)) / squares : 0.0;
    for (int64_t c = 0; c < x.dim(1); ++c) {
      to[c] = static_cast<float>((static_cast<double>(grad[c]) - part * static_cast<double>(row[c])) /
                                 std::max(length, kLeastLength));
    }
  }
}

}  // namespace dragoman::kernels
