#include "kernels/cuda/rows.h"

#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;

// Calls op(row, group) for each eight neighbouring columns of each row.
template <typename Op>
__global__ void each_group(Op op, int64_t rows, int64_t groups) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < rows * groups) {
    op(i / groups, i % groups);
  }
}

template <typename Op>
void for_each_group(const char* name, const Op& op, const Extent& extent) {
  const int64_t groups = blocks_for(extent.columns, kGroup);
  launch(name, each_group<Op>, {dim3(blocks_for(extent.rows * groups, kThreads)), kThreads}, op, extent.rows, groups);
}

__device__ __forceinline__ float cumulative_normal(float x) {
  return 0.5F * erfcf(-x * 0.70710678118654752F);
}

__device__ __forceinline__ float tanh_argument(float x) {
  return 0.79788456080286536F * (x + 0.044715F * x * x * x);
}

__device__ __forceinline__ float value_of(Curve curve, float x) {
  switch (curve) {
    case Curve::kRelu:
      return x < 0 ? 0.0F : x;
    case Curve::kGelu:
      return x * cumulative_normal(x);
    case Curve::kSilu:
      return x / (1.0F + expf(-x));
    case Curve::kGeluTanh:
      return 0.5F * x * (1.0F + tanhf(tanh_argument(x)));
    case Curve::kReluSquared:
      return x < 0 ? 0.0F : x * x;
    case Curve::kTanh:
      return tanhf(x);
    case Curve::kSigmoid:
      return 1.0F / (1.0F + expf(-x));
    case Curve::kNone:
      break;
  }
  return x;
}

__device__ __forceinline__ float slope_of(Curve curve, float x) {
  switch (curve) {
    case Curve::kRelu:
      return x > 0 ? 1.0F : 0.0F;
    case Curve::kGelu:
      return cumulative_normal(x) + x * expf(-0.5F * x * x) * 0.39894228040143268F;
    case Curve::kSilu: {
      const float sigmoid = 1.0F / (1.0F + expf(-x));
      return sigmoid * (1.0F + x * (1.0F - sigmoid));
    }
    case Curve::kGeluTanh: {
      const float bounded = fminf(fmaxf(x, -16.0F), 16.0F);  // beyond, the tanh does not change
      const float tanh = tanhf(tanh_argument(bounded));
      const float change = 0.79788456080286536F * (1.0F + 3 * 0.044715F * bounded * bounded);
      return 0.5F * (1.0F + tanh) + 0.5F * bounded * (1.0F - tanh * tanh) * change;
    }
    case Curve::kReluSquared:
      return x > 0 ? 2.0F * x : 0.0F;
    case Curve::kTanh: {
      const float tanh = tanhf(x);
      return 1.0F - tanh * tanh;
    }
    case Curve::kSigmoid: {
      const float sigmoid = 1.0F / (1.0F + expf(-x));
      return sigmoid * (1.0F - sigmoid);
    }
    case Curve::kNone:
      break;
  }
  return 1.0F;
}

template <typename T>
struct ActivationOp {
  Matrix<T> x, y;
  Curve curve;
  Mask mask;
  int64_t columns;
  __device__ void operator()(int64_t row, int64_t group) const {
    const int64_t left = columns - group * kGroup;
    Eight values = load8(at(x, row, group), left);
    for (float& value : values.v) {
      value = value_of(curve, value);
    }
    drop8(mask, row, group, values);
    store8(values, at(y, row, group), left);
  }
};

template <typename T>
struct ActivationBackwardOp {
  Matrix<T> saved, grad_y, grad_x;
  Curve curve;
  Mask mask;
  int64_t columns;
  __device__ void operator()(int64_t row, int64_t group) const {
    const int64_t left = columns - group * kGroup;
    const Eight values = load8(at(saved, row, group), left);
    Eight grads = load8(at(grad_y, row, group), left);
    for (int i = 0; i < kGroup; ++i) {
      grads.v[i] *= slope_of(curve, values.v[i]);
    }
    drop8(mask, row, group, grads);
    store8(grads, at(grad_x, row, group), left);
  }
};

template <typename T>
struct GatedOp {
  Matrix<T> gate, up, y;
  Curve curve;
  Mask mask;
  int64_t columns;
  __device__ void operator()(int64_t row, int64_t group) const {
    const int64_t left = columns - group * kGroup;
    const Eight gates = load8(at(gate, row, group), left);
    Eight values = load8(at(up, row, group), left);
    for (int i = 0; i < kGroup; ++i) {
      values.v[i] *= value_of(curve, gates.v[i]);
    }
    drop8(mask, row, group, values);
    store8(values, at(y, row, group), left);
  }
};

template <typename T>
struct GatedBackwardOp {
  Matrix<T> gate, up, grad_y, grad_gate, grad_up;
  Curve curve;
  Mask mask;
  int64_t columns;
  __device__ void operator()(int64_t row, int64_t group) const {
    const int64_t left = columns - group * kGroup;
    const Eight gates = load8(at(gate, row, group), left), ups = load8(at(up, row, group), left);
    Eight of_gate = load8(at(grad_y, row, group), left);
    drop8(mask, row, group, of_gate);
    Eight of_up = of_gate;
    for (int i = 0; i < kGroup; ++i) {
      of_gate.v[i] *= ups.v[i] * slope_of(curve, gates.v[i]);
      of_up.v[i] *= value_of(curve, gates.v[i]);
    }
    store8(of_gate, at(grad_gate, row, group), left);
    store8(of_up, at(grad_up, row, group), left);
  }
};

template <typename From, typename To>
struct DropoutOp {
  Matrix<From> x;
  Matrix<To> y;
  Mask mask;
  int64_t columns;
  __device__ void operator()(int64_t row, int64_t group) const {
    const int64_t left = columns - group * kGroup;
    Eight values = load8(at(x, row, group), left);
    drop8(mask, row, group, values);
    store8(values, at(y, row, group), left);
  }
};

// y[row] = factor(row) * x[ids[row]] (+ y[row])
struct CopyRowsOp {
  Matrix<float> x, y;
  const int32_t* ids;  // null: the rows themselves
  float scale;
  bool adds;
  bool drops;  // the row's element 0 of the mask is the factor
  Mask mask;
  int64_t columns;
  __device__ void operator()(int64_t row, int64_t group) const {
    const int64_t left = columns - group * kGroup, from = ids == nullptr ? row : ids[row];
    const float factor = drops ? mask_factor(mask, static_cast<uint32_t>(row), 0U) : scale;
    Eight values = load8(at(x, from, group), left);
    const Eight before = adds ? load8(at(y, row, group), left) : Eight{};
    for (int i = 0; i < kGroup; ++i) {
      values.v[i] = adds ? before.v[i] + factor * values.v[i] : factor * values.v[i];
    }
    store8(values, at(y, row, group), left);
  }
};

template <typename T>
struct AddRowOp {
  const float* row;
  Matrix<T> rows;
  int64_t columns;
  __device__ void operator()(int64_t n, int64_t group) const {
    const int64_t left = columns - group * kGroup;
    Eight values = load8(at(rows, n, group), left);
    const Eight added = load8(row + group * kGroup, left);
    for (int i = 0; i < kGroup; ++i) {
      values.v[i] += added.v[i];
    }
    store8(values, at(rows, n, group), left);
  }
};

__global__ void scatter(Matrix<float> rows, ScatterPlan plan, float scale, Matrix<float> table, int64_t columns) {
  const int64_t number = blockIdx.x;
  const int32_t begin = plan.starts[number], end = plan.starts[number + 1];
  if (begin == end) {
    return;
  }
  float* to = table.data + plan.ids[number] * table.stride;
  for (int64_t column = threadIdx.x; column < columns; column += blockDim.x) {
    float sum = to[column];
    for (int32_t i = begin; i < end; ++i) {
      sum += scale * rows.data[plan.rows[i] * rows.stride + column];
    }
    to[column] = sum;
  }
}

// A block has a row.
__global__ void __launch_bounds__(kThreads)
    softmax_rows(Matrix<float> x, bool logarithm, Matrix<float> y, int64_t columns) {
  const float* from = x.data + static_cast<int64_t>(blockIdx.x) * x.stride;
  float* to = y.data + static_cast<int64_t>(blockIdx.x) * y.stride;
  float largest = -INFINITY, sum = 0;
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    largest = from[c] == from[c] ? fmaxf(largest, from[c]) : from[c];
  }
  largest = over_block(largest, Largest());
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    sum += expf(from[c] - largest);
  }
  sum = over_block(sum, Sum());
  const float log_sum = logf(sum);
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    to[c] = logarithm ? from[c] - largest - log_sum : expf(from[c] - largest) / sum;
  }
}

__global__ void __launch_bounds__(kThreads)
    softmax_rows_backward(Matrix<float> saved, bool logarithm, Matrix<float> grad_y, Matrix<float> grad_x,
                          int64_t columns) {
  const float* y = saved.data + static_cast<int64_t>(blockIdx.x) * saved.stride;
  const float* dy = grad_y.data + static_cast<int64_t>(blockIdx.x) * grad_y.stride;
  float* dx = grad_x.data + static_cast<int64_t>(blockIdx.x) * grad_x.stride;
  float sum = 0;
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    sum += logarithm ? dy[c] : y[c] * dy[c];
  }
  sum = over_block(sum, Sum());
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    dx[c] = logarithm ? dy[c] - expf(y[c]) * sum : y[c] * (dy[c] - sum);
  }
}

template <typename T>
void run_gated_backward(const GatedBackward& gated) {
  for_each_group("gated_activation_backward",
                 GatedBackwardOp<T>{gated.gate.as<T>(), gated.up.as<T>(), gated.grad_y.as<T>(), gated.grad_gate.as<T>(),
                                    gated.grad_up.as<T>(), gated.curve, gated.mask, gated.extent.columns},
                 gated.extent);
}

}  // namespace

void activation(const AnyMatrix& x, Curve curve, const Mask& mask, const AnyMatrix& y, const Extent& extent) {
  if (x.is_bfloat16) {
    for_each_group("activation",
                   ActivationOp<BFloat16>{x.as<BFloat16>(), y.as<BFloat16>(), curve, mask, extent.columns}, extent);
  } else {
    for_each_group("activation", ActivationOp<float>{x.as<float>(), y.as<float>(), curve, mask, extent.columns},
                   extent);
  }
}

void activation_backward(const AnyMatrix& saved, const AnyMatrix& grad_y, Curve curve, const Mask& mask,
                         const AnyMatrix& grad_x, const Extent& extent) {
  if (saved.is_bfloat16) {
    for_each_group("activation_backward",
                   ActivationBackwardOp<BFloat16>{saved.as<BFloat16>(), grad_y.as<BFloat16>(), grad_x.as<BFloat16>(),
                                                  curve, mask, extent.columns},
                   extent);
  } else {
    for_each_group("activation_backward",
                   ActivationBackwardOp<float>{saved.as<float>(), grad_y.as<float>(), grad_x.as<float>(), curve, mask,
                                               extent.columns},
                   extent);
  }
}

void gated_activation(const AnyMatrix& gate, const AnyMatrix& up, Curve curve, const Mask& mask, const AnyMatrix& y,
                      const Extent& extent) {
  if (gate.is_bfloat16) {
    for_each_group(
        "gated_activation",
        GatedOp<BFloat16>{gate.as<BFloat16>(), up.as<BFloat16>(), y.as<BFloat16>(), curve, mask, extent.columns},
        extent);
  } else {
    for_each_group("gated_activation",
                   GatedOp<float>{gate.as<float>(), up.as<float>(), y.as<float>(), curve, mask, extent.columns},
                   extent);
  }
}

void gated_activation_backward(const GatedBackward& gated) {
  if (gated.gate.is_bfloat16) {
    run_gated_backward<BFloat16>(gated);
  } else {
    run_gated_backward<float>(gated);
  }
}

void dropout_rows(const AnyMatrix& x, const Mask& mask, const AnyMatrix& y, const Extent& extent) {
  const int64_t columns = extent.columns;
  if (!x.is_bfloat16 && !y.is_bfloat16) {
    for_each_group("dropout_rows", DropoutOp<float, float>{x.as<float>(), y.as<float>(), mask, columns}, extent);
  } else if (!x.is_bfloat16) {
    for_each_group("dropout_rows", DropoutOp<float, BFloat16>{x.as<float>(), y.as<BFloat16>(), mask, columns}, extent);
  } else if (!y.is_bfloat16) {
    for_each_group("dropout_rows", DropoutOp<BFloat16, float>{x.as<BFloat16>(), y.as<float>(), mask, columns}, extent);
  } else {
    for_each_group("dropout_rows", DropoutOp<BFloat16, BFloat16>{x.as<BFloat16>(), y.as<BFloat16>(), mask, columns},
                   extent);
  }
}

void dropout_whole_rows(const Matrix<float>& x, const Mask& mask, const Matrix<float>& y, const Extent& extent) {
  for_each_group("dropout_whole_rows", CopyRowsOp{x, y, nullptr, 1.0F, false, true, mask, extent.columns}, extent);
}

void add_to_rows(const float* row, const AnyMatrix& rows, const Extent& extent) {
  if (rows.is_bfloat16) {
    for_each_group("add_to_rows", AddRowOp<BFloat16>{row, rows.as<BFloat16>(), extent.columns}, extent);
  } else {
    for_each_group("add_to_rows", AddRowOp<float>{row, rows.as<float>(), extent.columns}, extent);
  }
}

void rows_accumulate(const Matrix<float>& from, const Matrix<float>& to, const Extent& extent) {
  for_each_group("rows_accumulate", CopyRowsOp{from, to, nullptr, 1.0F, true, false, {}, extent.columns}, extent);
}

void gather_rows(const Matrix<float>& table, const int32_t* ids, float scale, const Matrix<float>& y,
                 const Extent& extent) {
  for_each_group("gather_rows", CopyRowsOp{table, y, ids, scale, false, false, {}, extent.columns}, extent);
}

void scatter_rows(const Matrix<float>& rows, const ScatterPlan& plan, float scale, const Matrix<float>& table,
                  int64_t columns) {
  launch("scatter_rows", scatter, {dim3(static_cast<unsigned>(plan.count)), 128U}, rows, plan, scale, table, columns);
}

void softmax(const Matrix<float>& x, bool logarithm, const Matrix<float>& y, const Extent& extent) {
  launch("softmax", softmax_rows, {dim3(static_cast<unsigned>(extent.rows)), kThreads}, x, logarithm, y,
         extent.columns);
}

void softmax_backward(const Matrix<float>& saved, bool logarithm, const Matrix<float>& grad_y,
                      const Matrix<float>& grad_x, const Extent& extent) {
  launch("softmax_backward", softmax_rows_backward, {dim3(static_cast<unsigned>(extent.rows)), kThreads}, saved,
         logarithm, grad_y, grad_x, extent.columns);
}

}  // namespace dragoman::kernels::cuda
