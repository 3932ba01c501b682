#include "kernels/reference/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/row_of.h"

namespace dragoman::kernels::reference {
void log_softmax(const Tensor& x, Tensor& log_probs) {
  const int64_t columns = x.dim(1);
  for (int64_t n = 0; n < x.dim(0); ++n) {
    const double* row = row_of<double>(x, n);
    double largest = -std::numeric_limits<double>::infinity();
    for (int64_t c = 0; c < columns; ++c) {
      largest = std::max(largest, row[c]);
    }
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) {
      sum += std::exp(row[c] - largest);
    }
    for (int64_t c = 0; c < columns; ++c) {
      row_of<double>(log_probs, n)[c] = row[c] - largest - std::log(sum);
    }
  }
}

void softmax(const Tensor& x, Tensor& probs) {
  log_softmax(x, probs);
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t c = 0; c < x.dim(1); ++c) {
      row_of<double>(probs, n)[c] = std::exp(row_of<double>(probs, n)[c]);
    }
  }
}

void softmax_backward(const Tensor& probs, const Tensor& grad_output, Tensor& grad) {
  for (int64_t n = 0; n < probs.dim(0); ++n) {
    double mean = 0;  // of grad_output under probs, from the denominator of the softmax
    for (int64_t c = 0; c < probs.dim(1); ++c) {
      mean += row_of<double>(probs, n)[c] * row_of<double>(grad_output, n)[c];
    }
    for (int64_t c = 0; c < probs.dim(1); ++c) {
      row_of<double>(grad, n)[c] =
          row_of<double>(probs, n)[c] * (row_of<double>(grad_output, n)[c] - mean);  // undoes exp(x) / sum exp(x)
    }
  }
}

void log_softmax_backward(const Tensor& log_probs, const Tensor& grad_output, Tensor& grad) {
  for (int64_t n = 0; n < log_probs.dim(0); ++n) {
    double total = 0;
    for (int64_t c = 0; c < log_probs.dim(1); ++c) {
      total += row_of<double>(grad_output, n)[c];
    }
    for (int64_t c = 0; c < log_probs.dim(1); ++c) {
      // undoes x - log sum exp(x)
      row_of<double>(grad, n)[c] =
          row_of<double>(grad_output, n)[c] - std::exp(row_of<double>(log_probs, n)[c]) * total;
    }
  }
}

}  // namespace dragoman::kernels::reference
