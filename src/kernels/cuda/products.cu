#include "kernels/cuda/products.h"

#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr int kTile = 16;

// Element (row, column) of op(X), 0 outside.
template <typename T>
__device__ __forceinline__ float element(const Matrix<T>& x, bool transposed, int64_t row, int64_t column, int64_t rows,
                                         int64_t columns) {
  if (row >= rows || column >= columns) {
    return 0.0F;
  }
  return widen(transposed ? x.data[column * x.stride + row] : x.data[row * x.stride + column]);
}

// A block has a tile of C, a thread an element.
template <typename A, typename B, typename C>
__global__ void __launch_bounds__(kTile* kTile) multiply_tiles(Product p, Matrix<A> a, Matrix<B> b, Matrix<C> c) {
  __shared__ float tile_a[kTile][kTile + 1], tile_b[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x) % kTile, y = static_cast<int>(threadIdx.x) / kTile;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile,
                first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  float sum = 0;
  for (int64_t k = 0; k < p.depth; k += kTile) {
    // neighbouring threads read neighbouring elements of memory
    const int row_a = p.a_transposed ? x : y, depth_a = p.a_transposed ? y : x;
    tile_a[row_a][depth_a] = element(a, p.a_transposed, first_row + row_a, k + depth_a, p.rows, p.depth);
    const int depth_b = p.b_transposed ? x : y, column_b = p.b_transposed ? y : x;
    tile_b[depth_b][column_b] = element(b, p.b_transposed, k + depth_b, first_column + column_b, p.depth, p.columns);
    __syncthreads();
    DRAGOMAN_UNROLL
    for (int i = 0; i < kTile; ++i) {
      sum += tile_a[y][i] * tile_b[i][x];
    }
    __syncthreads();
  }
  const int64_t row = first_row + y, column = first_column + x;
  if (row < p.rows && column < p.columns) {
    C& to = c.data[row * c.stride + column];
    const float before = p.accumulate        ? widen(to)
                         : p.bias == nullptr ? 0.0F
                                             : static_cast<const float*>(p.bias)[column];
    const float value = before + sum;
    to = narrow<C>(p.relu && value < 0 ? 0.0F : value);
  }
}

template <typename A, typename B>
void multiply(const Product& p) {
  const LaunchShape shape{dim3(blocks_for(p.columns, kTile), blocks_for(p.rows, kTile)), kTile * kTile};
  if (p.c.is_bfloat16) {
    launch("gemm", multiply_tiles<A, B, BFloat16>, shape, p, p.a.as<A>(), p.b.as<B>(), p.c.as<BFloat16>());
  } else {
    launch("gemm", multiply_tiles<A, B, float>, shape, p, p.a.as<A>(), p.b.as<B>(), p.c.as<float>());
  }
}

}  // namespace

void multiply_plainly(const Product& p) {
  if (p.a.is_bfloat16) {
    p.b.is_bfloat16 ? multiply<BFloat16, BFloat16>(p) : multiply<BFloat16, float>(p);
  } else {
    p.b.is_bfloat16 ? multiply<float, BFloat16>(p) : multiply<float, float>(p);
  }
}

}  // namespace dragoman::kernels::cuda
