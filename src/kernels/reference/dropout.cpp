#include "kernels/reference/dropout.h"

#include "base/random.h"
#include "kernels/dropout_mask.h"

namespace dragoman::kernels::reference {

double dropout_factor(const Dropout& dropout, int64_t row, int64_t column) {
  const auto words = base::philox4x32(
      {static_cast<uint32_t>(column / 8), static_cast<uint32_t>(dropout.first_row + row), dropout.site, dropout.step},
      {static_cast<uint32_t>(dropout.seed), static_cast<uint32_t>(dropout.seed >> 32)});
  const auto half = static_cast<size_t>(column % 8);
  const uint32_t half_word = (words[half / 2] >> (half % 2 * 16)) & 0xFFFF;
  return half_word >= dropout_threshold(dropout) ? dropout_scale(dropout) : 0.0;
}

void dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y) {
  for (int64_t row = 0; row < x.dim(0); ++row) {
    const double* from = x.data<double>() + row * x.stride(0);
    double* to = y.data<double>() + row * y.stride(0);
    for (int64_t column = 0; column < x.dim(1); ++column) {
      to[column] = from[column] * dropout_factor(dropout, row, column);
    }
  }
}

}  // namespace dragoman::kernels::reference
