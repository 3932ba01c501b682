#include "kernels/cuda/device_math-inl.h"
#include "kernels/cuda/rows.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;

// One thread has a pair of columns.
template <typename T>
__global__ void __launch_bounds__(kThreads) rotate_pairs(Matrix<T> x, const int32_t* positions, Matrix<float> table,
                                                         int64_t half, float sign, Matrix<T> y, Extent extent) {
  const int64_t pairs = extent.columns / 2, index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= extent.rows * pairs) {
    return;
  }
  const int64_t row = index / pairs, pair = index % pairs, i = pair % half;
  const int64_t first = pair / half * 2 * half + i, second = first + half;
  const float* angles = table.data + positions[row] * table.stride;
  const float cosine = angles[i], sine = sign * angles[half + i];
  const float a = widen(x.data[row * x.stride + first]), b = widen(x.data[row * x.stride + second]);
  y.data[row * y.stride + first] = narrow<T>(a * cosine - b * sine);
  y.data[row * y.stride + second] = narrow<T>(b * cosine + a * sine);
}

template <typename T>
void run_rotation(const AnyMatrix& x, const int32_t* positions, const Matrix<float>& table, int64_t width, float sign,
                  const AnyMatrix& y, const Extent& extent) {
  launch("rotate", rotate_pairs<T>, {dim3(blocks_for(extent.rows * (extent.columns / 2), kThreads)), kThreads},
         x.as<T>(), positions, table, width / 2, sign, y.as<T>(), extent);
}

}  // namespace

void rotate(const AnyMatrix& x, const int32_t* positions, const Matrix<float>& table, int64_t width, float sign,
            const AnyMatrix& y, const Extent& extent) {
  if (x.is_bfloat16) {
    run_rotation<BFloat16>(x, positions, table, width, sign, y, extent);
  } else {
    run_rotation<float>(x, positions, table, width, sign, y, extent);
  }
}

}  // namespace dragoman::kernels::cuda
