#include "ops/reference/embedding.h"

namespace dragoman::ops::reference {

void gather_rows(const Tensor& table, const Tensor& ids, double scale, Tensor& output) {
  const double* from = table.data<double>();
  double* to = output.data<double>();
  const int64_t width = table.dim(1);
  for (int64_t n = 0; n < ids.dim(0); ++n) {
    const double* row = from + ids.data<int32_t>()[n] * table.stride(0);
    for (int64_t d = 0; d < width; ++d) {
      to[n * output.stride(0) + d] = scale * row[d];
    }
  }
}

void scatter_rows_accumulate(const Tensor& rows, const Tensor& ids, double scale, Tensor& table_sum) {
  const double* from = rows.data<double>();
  double* to = table_sum.data<double>();
  const int64_t width = rows.dim(1);
  for (int64_t n = 0; n < ids.dim(0); ++n) {
    double* row = to + ids.data<int32_t>()[n] * table_sum.stride(0);
    for (int64_t d = 0; d < width; ++d) {
      row[d] += scale * from[n * rows.stride(0) + d];
    }
  }
}

}  // namespace dragoman::ops::reference
