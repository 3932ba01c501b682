#include "kernels/cpu/rows/scan_cpu.h"

#include "kernels/cpu/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/scan_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/simd/row_math-inl.h"
#include "kernels/row_of.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace {

// The row that a sentence begins with; null is zero.
const float* first_row(const Tensor& initial, size_t sentence) {
  return initial.defined() ? row_of<float>(initial, static_cast<int64_t>(sentence)) : nullptr;
}

template <class Part>
HWY_INLINE RowVector load_or_zero(Part part, const float* row, int64_t column) {
  return row == nullptr ? hn::Zero(RowTag()) : part.load(row + column);
}

void scan_rows(const ScanForward& in) {
  for (size_t b = 0; b + 1 < in.offsets.size(); ++b) {
    const float* before = first_row(in.initial, b);
    for (int64_t n = in.offsets[b]; n < in.offsets[b + 1]; ++n) {
      const float *keep = row_of<float>(in.keep, n), *x = row_of<float>(in.x, n);
      float* y = row_of<float>(in.y, n);
      for_each_vector(in.x.dim(1), [&](auto part, int64_t c) HWY_ATTR {
        const RowVector value = part.load(x + c);
        part.store(hn::MulAdd(part.load(keep + c), hn::Sub(load_or_zero(part, before, c), value), value), y + c);
      });
      before = y;
    }
  }
}

// grad_x of a row holds keep_{t+1} g_{t+1} until the row is reached.
void scan_rows_backward(const ScanBackward& in) {
  const RowVector one = hn::Set(RowTag(), 1.0F);
  for (size_t b = 0; b + 1 < in.offsets.size(); ++b) {
    const int64_t first = in.offsets[b], last = in.offsets[b + 1] - 1;
    for (int64_t n = last; n >= first; --n) {
      const float *keep = row_of<float>(in.keep, n), *x = row_of<float>(in.x, n), *dy = row_of<float>(in.grad_y, n);
      const float* before = n > first ? row_of<float>(in.y, n - 1) : first_row(in.initial, b);
      const float* later = n < last ? row_of<float>(in.grad_x, n) : nullptr;
      float *grad_keep = row_of<float>(in.grad_keep, n), *grad_x = row_of<float>(in.grad_x, n);
      float* earlier = n > first ? row_of<float>(in.grad_x, n - 1) : nullptr;
      for_each_vector(in.x.dim(1), [&](auto part, int64_t c) HWY_ATTR {
        const RowVector g = hn::Add(part.load(dy + c), load_or_zero(part, later, c));
        const RowVector kept = part.load(keep + c);
        part.store(hn::Mul(g, hn::Sub(load_or_zero(part, before, c), part.load(x + c))), grad_keep + c);
        part.store(hn::Mul(g, hn::Sub(one, kept)), grad_x + c);
        if (earlier != nullptr) {
          part.store(hn::Mul(kept, g), earlier + c);
        }
      });
    }
  }
}

void add_column_sums(const Tensor& x, const Tensor& y, Tensor& sums) {
  double *plain = row_of<double>(sums, 0), *products = row_of<double>(sums, 1);
  for (int64_t n = 0; n < x.dim(0); ++n) {
    const float *left = row_of<float>(x, n), *right = row_of<float>(y, n);
    for (int64_t c = 0; c < x.dim(1); ++c) {
      plain[c] += static_cast<double>(left[c]);
      products[c] += static_cast<double>(left[c]) * static_cast<double>(right[c]);
    }
  }
}

void map_rows_of_columns(const ColumnMap& map) {
  const float *a = map.x.defined() ? map.a.data<float>() : nullptr, *b = map.b.data<float>();
  const float *mean = map.mean.data<float>(), *shift = map.c.data<float>();
  for (int64_t n = 0; n < map.z.dim(0); ++n) {
    const float *x = a == nullptr ? nullptr : row_of<float>(map.x, n), *z = row_of<float>(map.z, n);
    float* y = row_of<float>(map.y, n);
    for_each_vector(map.z.dim(1), [&](auto part, int64_t c) HWY_ATTR {
      const RowVector rest =
          hn::MulAdd(part.load(b + c), hn::Sub(part.load(z + c), part.load(mean + c)), part.load(shift + c));
      part.store(x == nullptr ? rest : hn::MulAdd(part.load(a + c), part.load(x + c), rest), y + c);
    });
  }
}

}  // namespace

void scan_kernel(const ScanForward& scan) {
  scan_rows(scan);
}

void scan_backward_kernel(const ScanBackward& scan) {
  scan_rows_backward(scan);
}

void column_sums_kernel(const Tensor& x, const Tensor& y, Tensor& sums) {
  add_column_sums(x, y, sums);
}

void map_columns_kernel(const ColumnMap& map) {
  map_rows_of_columns(map);
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(scan_kernel);
HWY_EXPORT(scan_backward_kernel);
HWY_EXPORT(column_sums_kernel);
HWY_EXPORT(map_columns_kernel);

void scan_cpu(const ScanForward& scan) {
  DRAGOMAN_DISPATCH(scan_kernel)(scan);
}

void scan_backward_cpu(const ScanBackward& scan) {
  DRAGOMAN_DISPATCH(scan_backward_kernel)(scan);
}

void column_sums_cpu(const Tensor& x, const Tensor& y, Tensor& sums) {
  sums.zero();
  DRAGOMAN_DISPATCH(column_sums_kernel)(x, y, sums);
}

void map_columns_cpu(const ColumnMap& map) {
  DRAGOMAN_DISPATCH(map_columns_kernel)(map);
}

}  // namespace dragoman::kernels
#endif
