#include "kernels/reference/embedding.h"

namespace dragoman::kernels::reference {

void scaled_row(const double* from, double scale, int64_t width, double* to) {
  for (int64_t d = 0; d < width; ++d) {
    to[d] = scale * from[d];
  }
}

void scaled_row_accumulate(const double* from, double scale, int64_t width, double* to) {
  for (int64_t d = 0; d < width; ++d) {
    to[d] += scale * from[d];
  }
}

}  // namespace dragoman::kernels::reference
