#include "kernels/reference/rotation.h"

#include "kernels/row_of.h"

namespace dragoman::kernels::reference {

void rotate(const Rotation& rotation, Tensor& y) {
  const int64_t width = rotation.table.dim(1), half = width / 2;
  for (int64_t row = 0; row < y.dim(0); ++row) {
    const double* cosine = row_of<double>(rotation.table, rotation.positions.data<int32_t>()[row]);
    for (int64_t head = 0; head < y.dim(1) / width; ++head) {
      const double* x = row_of<double>(rotation.x, row) + head * width;
      double* to = row_of<double>(y, row) + head * width;
      for (int64_t i = 0; i < half; ++i) {
        const double sine = rotation.inverse ? -cosine[half + i] : cosine[half + i];
        to[i] = x[i] * cosine[i] - x[half + i] * sine;
        to[half + i] = x[half + i] * cosine[i] + x[i] * sine;
      }
    }
  }
}

}  // namespace dragoman::kernels::reference
