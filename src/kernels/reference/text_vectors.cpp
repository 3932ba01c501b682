#include "kernels/reference/text_vectors.h"

#include <algorithm>
#include <cmath>

#include "kernels/row_of.h"
#include "kernels/text_vectors.h"

namespace dragoman::kernels::reference {

void mean_of_texts(const Tensor& x, std::span<const int32_t> offsets, Tensor& means) {
  for (int64_t b = 0; b < means.dim(0); ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], end = offsets[static_cast<size_t>(b + 1)];
    for (int64_t c = 0; c < x.dim(1); ++c) {
      double sum = 0;
      for (int64_t n = begin; n < end; ++n) {
        sum += row_of<double>(x, n)[c];
      }
      row_of<double>(means, b)[c] = sum / static_cast<double>(end - begin);
    }
  }
}

// Each row of a text has the share 1 / rows of its mean.
void mean_of_texts_backward(const Tensor& grad_means, std::span<const int32_t> offsets, Tensor& grad_x) {
  for (int64_t b = 0; b < grad_means.dim(0); ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], end = offsets[static_cast<size_t>(b + 1)];
    for (int64_t n = begin; n < end; ++n) {
      for (int64_t c = 0; c < grad_x.dim(1); ++c) {
        row_of<double>(grad_x, n)[c] = row_of<double>(grad_means, b)[c] / static_cast<double>(end - begin);
      }
    }
  }
}

void unit_rows(const Tensor& x, Tensor& y) {
  for (int64_t n = 0; n < x.dim(0); ++n) {
    double squares = 0;
    for (int64_t c = 0; c < x.dim(1); ++c) {
      squares += row_of<double>(x, n)[c] * row_of<double>(x, n)[c];
    }
    for (int64_t c = 0; c < x.dim(1); ++c) {
      row_of<double>(y, n)[c] = row_of<double>(x, n)[c] / std::max(std::sqrt(squares), kLeastLength);
    }
  }
}

// d(x / |x|) = (dx - u (u . dx)) / |x| with u = x / |x|; a row shorter than kLeastLength is only scaled.
void unit_rows_backward(const Tensor& x, const Tensor& grad_y, Tensor& grad_x) {
  for (int64_t n = 0; n < x.dim(0); ++n) {
    double squares = 0, along = 0;
    for (int64_t c = 0; c < x.dim(1); ++c) {
      squares += row_of<double>(x, n)[c] * row_of<double>(x, n)[c];
      along += row_of<double>(x, n)[c] * row_of<double>(grad_y, n)[c];
    }
    const double length = std::sqrt(squares);
    const double part = length > kLeastLength ? along / squares : 0.0;
    for (int64_t c = 0; c < x.dim(1); ++c) {
      row_of<double>(grad_x, n)[c] =
          (row_of<double>(grad_y, n)[c] - part * row_of<double>(x, n)[c]) / std::max(length, kLeastLength);
    }
  }
}

}  // namespace dragoman::kernels::reference
