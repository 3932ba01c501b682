#include "kernels/cuda/elements.h"

#include <algorithm>

#include "kernels/cuda/device_math-inl.h"
#include "kernels/cuda/each_element-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr int64_t kMostParts = 1024;

struct FillOp {
  float* to;
  float value;
  __device__ void operator()(int64_t i) const { to[i] = value; }
};

struct MapOp {
  ElementMap map;
  const float* x;
  float* y;
  __device__ void operator()(int64_t i) const { y[i] = map == ElementMap::kNegate ? -x[i] : expf(x[i]); }
};

struct PairOp {
  PairMap map;
  const float* left;
  int64_t left_step;
  const float* right;
  int64_t right_step;
  float* y;
  __device__ void operator()(int64_t i) const {
    const float a = left[i * left_step], b = right[i * right_step];
    switch (map) {
      case PairMap::kAdd:
        y[i] = a + b;
        break;
      case PairMap::kSubtract:
        y[i] = a - b;
        break;
      case PairMap::kMultiply:
        y[i] = a * b;
        break;
      case PairMap::kTwiceProduct:
        y[i] = 2 * b * a;
        break;
    }
  }
};

template <typename T>
struct AddOp {
  T* sum;
  const T* part;
  __device__ void operator()(int64_t i) const { sum[i] = narrow<T>(widen(sum[i]) + widen(part[i])); }
};

template <typename From, typename To>
struct ConvertOp {
  Matrix<From> from;
  Matrix<To> to;
  int64_t columns;
  __device__ void operator()(int64_t group) const {
    const int64_t groups = (columns + kGroup - 1) / kGroup, row = group / groups, column = group % groups * kGroup;
    store8(load8(from.data + row * from.stride + column, columns - column), to.data + row * to.stride + column,
           columns - column);
  }
};

__device__ __forceinline__ float without_denormals(float value) {
  return fabsf(value) >= 1.17549435e-38F ? value : 0.0F;
}

struct AdamOp {
  AdamUpdate u;
  __device__ void operator()(int64_t i) const {
    const AdamFactors& f = u.factors;
    const float scale = u.clipping == nullptr ? f.gradient_scale : static_cast<float>(u.clipping[0]);
    if (scale != scale) {
      return;
    }
    const float g = u.grads[i] * scale;
    const float m = without_denormals(f.beta1 * u.moment1[i] + f.rest1 * g);
    const float v = without_denormals(f.beta2 * u.moment2[i] + f.rest2 * (g * g));
    u.moment1[i] = m;
    u.moment2[i] = v;
    u.weights[i] = f.keep * u.weights[i] - f.rate * m / (sqrtf(v) * f.root_scale + f.epsilon);
  }
};

struct EmaOp {
  float* average;
  const float* weights;
  float share;
  __device__ void operator()(int64_t i) const { average[i] += share * (weights[i] - average[i]); }
};

struct ClipOp {
  const double* squares;
  double clip_norm;
  double* factors;
  __device__ void operator()(int64_t) const {
    const double norm = sqrt(*squares);
    const bool finite = norm - norm == 0.0;
    factors[0] = !finite ? norm - norm : clip_norm > 0.0 && norm > clip_norm ? clip_norm / norm : 1.0;
    factors[1] = norm;
  }
};

struct WeightedSumOp {
  WeightedTerms sum;
  float* y;
  __device__ void operator()(int64_t) const {
    double total = 0;
    for (int i = 0; i < sum.count; ++i) {
      total += sum.weights[i] * sum.terms[i];
    }
    *y = static_cast<float>(total);
  }
};

__device__ __forceinline__ double term(Reduction reduction, float x) {
  const auto wide = static_cast<double>(x);
  switch (reduction) {
    case Reduction::kSum:
      return wide;
    case Reduction::kSumOfSquares:
      return wide * wide;
    case Reduction::kNotFinite:
      return (__float_as_uint(x) & 0x7F800000U) == 0x7F800000U ? 1.0 : 0.0;
  }
  return 0.0;
}

__global__ void __launch_bounds__(kThreads)
    reduce_parts(Reduction reduction, const float* x, int64_t count, double* parts) {
  double sum = 0;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    sum += term(reduction, x[i]);
  }
  sum = over_block(sum, Sum());
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
  }
}

__global__ void __launch_bounds__(kThreads) reduce_last(const double* parts, int64_t count, double* result) {
  double sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    sum += parts[i];
  }
  sum = over_block(sum, Sum());
  if (threadIdx.x == 0) {
    *result = sum;
  }
}

}  // namespace

void fill(float* to, float value, int64_t count) {
  for_each("fill", FillOp{to, value}, count);
}

void map(ElementMap map, const float* x, float* y, int64_t count) {
  for_each("map", MapOp{map, x, y}, count);
}

void map_pairs(PairMap map, const float* left, int64_t left_step, const float* right, int64_t right_step, float* y,
               int64_t count) {
  for_each("map_pairs", PairOp{map, left, left_step, right, right_step, y}, count);
}

void add_in_place(float* sum, const float* part, int64_t count) {
  for_each("add_in_place", AddOp<float>{sum, part}, count);
}

void add_in_place(BFloat16* sum, const BFloat16* part, int64_t count) {
  for_each("add_in_place", AddOp<BFloat16>{sum, part}, count);
}

void convert_rows(const AnyMatrix& from, const AnyMatrix& to, const Extent& extent) {
  const int64_t count = extent.rows * blocks_for(extent.columns, kGroup);
  if (!from.is_bfloat16) {
    for_each("convert", ConvertOp<float, BFloat16>{from.as<float>(), to.as<BFloat16>(), extent.columns}, count);
  } else if (!to.is_bfloat16) {
    for_each("convert", ConvertOp<BFloat16, float>{from.as<BFloat16>(), to.as<float>(), extent.columns}, count);
  } else {
    for_each("convert", ConvertOp<BFloat16, BFloat16>{from.as<BFloat16>(), to.as<BFloat16>(), extent.columns}, count);
  }
}

void adam(const AdamUpdate& update, int64_t count) {
  for_each("adam", AdamOp{update}, count);
}

void ema(float* average, const float* weights, float share, int64_t count) {
  for_each("ema", EmaOp{average, weights, share}, count);
}

void clip_factors(const double* squares, double clip_norm, double* factors) {
  for_each("clip_factors", ClipOp{squares, clip_norm, factors}, 1);
}

void weighted_sum(const WeightedTerms& sum, float* y) {
  for_each("weighted_sum", WeightedSumOp{sum, y}, 1);
}

int64_t reduction_parts(int64_t count) {
  constexpr int64_t kEach = 8 * kThreads;  // elements of a block, until there are kMostParts blocks
  return std::clamp<int64_t>((count + kEach - 1) / kEach, 1, kMostParts);
}

void reduce(Reduction reduction, const float* x, int64_t count, double* parts, double* result) {
  const int64_t blocks = reduction_parts(count);
  launch("reduce", reduce_parts, {dim3(static_cast<unsigned>(blocks)), kThreads}, reduction, x, count, parts);
  launch("reduce", reduce_last, {dim3(1), kThreads}, static_cast<const double*>(parts), blocks, result);
}

}  // namespace dragoman::kernels::cuda
