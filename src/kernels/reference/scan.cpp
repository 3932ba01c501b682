#include "kernels/reference/scan.h"

#include "kernels/row_of.h"

namespace dragoman::kernels::reference {
namespace {

// y_{t-1} of a column: of the row before, or of what the sentence begins with.
double before(const Tensor& y, const Tensor& initial, int64_t sentence, int64_t row, int64_t first, int64_t column) {
  if (row > first) {
    return row_of<double>(y, row - 1)[column];
  }
  return initial.defined() ? row_of<double>(initial, sentence)[column] : 0.0;
}

}  // namespace

void scan(const ScanForward& in) {
  for (size_t b = 0; b + 1 < in.offsets.size(); ++b) {
    for (int64_t n = in.offsets[b]; n < in.offsets[b + 1]; ++n) {
      for (int64_t c = 0; c < in.x.dim(1); ++c) {
        const double keep = row_of<double>(in.keep, n)[c];
        row_of<double>(in.y, n)[c] = keep * before(in.y, in.initial, static_cast<int64_t>(b), n, in.offsets[b], c) +
                                     (1 - keep) * row_of<double>(in.x, n)[c];
      }
    }
  }
}

void scan_backward(const ScanBackward& in) {
  for (size_t b = 0; b + 1 < in.offsets.size(); ++b) {
    for (int64_t c = 0; c < in.x.dim(1); ++c) {
      double later = 0;  // keep_{t+1} g_{t+1}
      for (int64_t n = in.offsets[b + 1] - 1; n >= in.offsets[b]; --n) {
        const double keep = row_of<double>(in.keep, n)[c], g = row_of<double>(in.grad_y, n)[c] + later;
        row_of<double>(in.grad_keep, n)[c] =
            g * (before(in.y, in.initial, static_cast<int64_t>(b), n, in.offsets[b], c) - row_of<double>(in.x, n)[c]);
        row_of<double>(in.grad_x, n)[c] = g * (1 - keep);
        later = keep * g;
      }
    }
  }
}

void column_sums(const Tensor& x, const Tensor& y, Tensor& sums) {
  sums.zero();
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t c = 0; c < x.dim(1); ++c) {
      const double value = row_of<double>(x, n)[c];
      row_of<double>(sums, 0)[c] += value;
      row_of<double>(sums, 1)[c] += value * row_of<double>(y, n)[c];
    }
  }
}

void map_columns(const ColumnMap& map) {
  for (int64_t n = 0; n < map.z.dim(0); ++n) {
    for (int64_t c = 0; c < map.z.dim(1); ++c) {
      const double rest = map.b.data<double>()[c] * (row_of<double>(map.z, n)[c] - map.mean.data<double>()[c]) +
                          map.c.data<double>()[c];
      row_of<double>(map.y, n)[c] =
          map.x.defined() ? map.a.data<double>()[c] * row_of<double>(map.x, n)[c] + rest : rest;
    }
  }
}

}  // namespace dragoman::kernels::reference
