#include "kernels/cuda/sequences.h"

#include "kernels/cuda/device_math-inl.h"
#include "kernels/cuda/each_element-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;

__device__ __forceinline__ float& element(const Matrix<float>& matrix, int64_t row, int64_t column) {
  return matrix.data[row * matrix.stride + column];
}

__device__ __forceinline__ float sigmoid(float x) {
  return 1.0F / (1.0F + expf(-x));
}

// y before the first row of a sentence.
__device__ __forceinline__ float initial_of(const Scan& scan, int64_t sentence, int64_t column) {
  return scan.initial.data == nullptr ? 0.0F : element(scan.initial, sentence, column);
}

// A thread has a column of a sentence.
struct ScanOp {
  Scan scan;
  __device__ void operator()(int64_t i) const {
    const int64_t sentence = i / scan.columns, column = i % scan.columns;
    float y = initial_of(scan, sentence, column);
    for (int64_t n = scan.offsets[sentence]; n < scan.offsets[sentence + 1]; ++n) {
      const float keep = element(scan.keep, n, column);
      y = keep * y + (1.0F - keep) * element(scan.x, n, column);
      element(scan.y, n, column) = y;
    }
  }
};

struct ScanBackwardOp {
  Scan scan;
  ScanGradients gradients;
  __device__ void operator()(int64_t i) const {
    const int64_t sentence = i / scan.columns, column = i % scan.columns, first = scan.offsets[sentence];
    float later = 0;  // keep_{t+1} g_{t+1}
    for (int64_t n = scan.offsets[sentence + 1] - 1; n >= first; --n) {
      const float keep = element(scan.keep, n, column), g = element(gradients.grad_y, n, column) + later;
      const float before = n > first ? element(scan.y, n - 1, column) : initial_of(scan, sentence, column);
      element(gradients.grad_keep, n, column) = g * (before - element(scan.x, n, column));
      element(gradients.grad_x, n, column) = g * (1.0F - keep);
      later = keep * g;
    }
  }
};

// A block has 32 columns, and each of its warps every eighth row.
__global__ void __launch_bounds__(kThreads)
    column_products_of_block(Matrix<float> x, Matrix<float> y, Extent extent, double* sums) {
  constexpr int kWarps = static_cast<int>(kThreads) / kWarp;
  __shared__ double parts[2][kWarps][kWarp];
  const int lane = lane_number(), warp = warp_number();
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kWarp + lane;
  double sum = 0, products = 0;
  for (int64_t n = warp; column < extent.columns && n < extent.rows; n += kWarps) {
    const auto value = static_cast<double>(element(x, n, column));
    sum += value;
    products += value * static_cast<double>(element(y, n, column));
  }
  parts[0][warp][lane] = sum;
  parts[1][warp][lane] = products;
  __syncthreads();
  if (warp < 2 && column < extent.columns) {
    double total = 0;
    for (int part = 0; part < kWarps; ++part) {
      total += parts[warp][part][lane];
    }
    sums[warp * extent.columns + column] = total;
  }
}

struct MapColumnsOp {
  MapOfColumns map;
  int64_t columns;
  __device__ void operator()(int64_t i) const {
    const int64_t n = i / columns, c = i % columns;
    const float rest = map.b[c] * (element(map.z, n, c) - map.mean[c]) + map.c[c];
    element(map.y, n, c) = map.x.data == nullptr ? rest : map.a[c] * element(map.x, n, c) + rest;
  }
};

struct MeanOp {
  Texts texts;
  __device__ void operator()(int64_t i) const {
    const int64_t text = i / texts.columns, column = i % texts.columns;
    const int32_t begin = texts.offsets[text], end = texts.offsets[text + 1];
    double sum = 0;
    for (int64_t n = begin; n < end; ++n) {
      sum += static_cast<double>(element(texts.rows, n, column));
    }
    element(texts.of_texts, text, column) = static_cast<float>(sum / (end - begin));
  }
};

struct MeanBackwardOp {
  Texts texts;
  __device__ void operator()(int64_t i) const {
    const int64_t text = i / texts.columns, column = i % texts.columns;
    const int32_t begin = texts.offsets[text], end = texts.offsets[text + 1];
    const float share = element(texts.of_texts, text, column) / static_cast<float>(end - begin);
    for (int64_t n = begin; n < end; ++n) {
      element(texts.rows, n, column) = share;
    }
  }
};

// The sum of x * y over a row, in every thread of its block.
__device__ double row_product(const Matrix<float>& x, const Matrix<float>& y, int64_t row, int64_t columns) {
  double sum = 0;
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    sum += static_cast<double>(element(x, row, c)) * static_cast<double>(element(y, row, c));
  }
  return over_block(sum, Sum());
}

__global__ void __launch_bounds__(kThreads) unit_row(Matrix<float> x, float least, Matrix<float> y, int64_t columns) {
  const int64_t row = blockIdx.x;
  const double length = sqrt(row_product(x, x, row, columns));
  const auto divisor = static_cast<float>(length > static_cast<double>(least) ? length : static_cast<double>(least));
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    element(y, row, c) = element(x, row, c) / divisor;
  }
}

// d(x / |x|) = (dx - u (u . dx)) / |x| with u = x / |x|; a row shorter than `least` is only scaled.
__global__ void __launch_bounds__(kThreads)
    unit_row_backward(Matrix<float> x, Matrix<float> grad_y, float least, Matrix<float> grad_x, int64_t columns) {
  const int64_t row = blockIdx.x;
  const double squares = row_product(x, x, row, columns), along = row_product(x, grad_y, row, columns);
  const double length = sqrt(squares);
  const bool is_long = length > static_cast<double>(least);
  const auto part = static_cast<float>(is_long ? along / squares : 0.0);
  const auto divisor = static_cast<float>(is_long ? length : static_cast<double>(least));
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    element(grad_x, row, c) = (element(grad_y, row, c) - part * element(x, row, c)) / divisor;
  }
}

// A thread has a unit of a sentence.
struct CellOp {
  CellStep step;

  __device__ float gate(int64_t k, int64_t row, int64_t column) const {
    const float given = element(step.gates, row, column);
    return step.fed_gates.data == nullptr ? given : given + element(step.fed_gates, k, column);
  }
  __device__ float sum(int64_t k, int64_t row, int64_t column) const {
    return gate(k, row, column) + element(step.state_gates, k, column);
  }
  __device__ float gru(int64_t k, int64_t row, int64_t c) const {
    const int64_t h = step.width;
    const float r = sigmoid(sum(k, row, c)), z = sigmoid(sum(k, row, h + c));
    const float from_state = element(step.state_gates, k, 2 * h + c);
    const float n = tanhf(gate(k, row, 2 * h + c) + r * from_state);
    element(step.saved, k, c) = r;
    element(step.saved, k, h + c) = z;
    element(step.saved, k, 2 * h + c) = n;
    element(step.saved, k, 3 * h + c) = from_state;
    return (1.0F - z) * n + z * element(step.hidden, k, c);
  }
  __device__ float lstm(int64_t k, int64_t row, int64_t c) const {
    const int64_t h = step.width;
    float values[4];
    DRAGOMAN_UNROLL
    for (int g = 0; g < 4; ++g) {
      const float x = sum(k, row, g * h + c);
      values[g] = g == 2 ? tanhf(x) : sigmoid(x);
      element(step.saved, k, g * h + c) = values[g];
    }
    const float cell = values[1] * element(step.cell, k, c) + values[0] * values[2];
    element(step.next_cell, k, c) = cell;
    return values[3] * tanhf(cell);
  }
  __device__ void operator()(int64_t i) const {
    const int64_t k = i / step.width, c = i % step.width, row = step.rows[k];
    const float result = step.is_gru ? gru(k, row, c) : lstm(k, row, c);
    element(step.output, row, c) = result;
    if (k < step.going_on) {
      element(step.next_hidden, k, c) = result;
    }
  }
};

struct CellBackwardOp {
  CellStepBackward step;

  __device__ void give(int64_t k, int64_t row, int64_t column, float grad) const {
    element(step.grad_gates, row, column) = grad;
    element(step.grad_state_gates, k, column) = grad;
  }
  __device__ void gru(int64_t k, int64_t row, int64_t c) const {
    const int64_t h = step.width;
    const float r = element(step.saved, k, c), z = element(step.saved, k, h + c);
    const float n = element(step.saved, k, 2 * h + c), from_state = element(step.saved, k, 3 * h + c);
    const float grad = element(step.grad_output, row, c) + element(step.grad_hidden, k, c);
    const float grad_n = grad * (1.0F - z) * (1.0F - n * n);
    give(k, row, c, grad_n * from_state * r * (1.0F - r));
    give(k, row, h + c, grad * (element(step.hidden, k, c) - n) * z * (1.0F - z));
    element(step.grad_gates, row, 2 * h + c) = grad_n;
    element(step.grad_state_gates, k, 2 * h + c) = grad_n * r;
    element(step.grad_hidden, k, c) = grad * z;
  }
  __device__ void lstm(int64_t k, int64_t row, int64_t c) const {
    const int64_t h = step.width;
    const float in = element(step.saved, k, c), keep = element(step.saved, k, h + c);
    const float g = element(step.saved, k, 2 * h + c), out = element(step.saved, k, 3 * h + c);
    const float squashed = tanhf(element(step.next_cell, k, c));
    const float grad = element(step.grad_output, row, c) + element(step.grad_hidden, k, c);
    const float grad_cell = element(step.grad_cell, k, c) + grad * out * (1.0F - squashed * squashed);
    give(k, row, c, grad_cell * g * in * (1.0F - in));
    give(k, row, h + c, grad_cell * element(step.cell, k, c) * keep * (1.0F - keep));
    give(k, row, 2 * h + c, grad_cell * in * (1.0F - g * g));
    give(k, row, 3 * h + c, grad * squashed * out * (1.0F - out));
    element(step.grad_hidden, k, c) = 0.0F;
    element(step.grad_cell, k, c) = grad_cell * keep;
  }
  __device__ void operator()(int64_t i) const {
    const int64_t k = i / step.width, c = i % step.width, row = step.rows[k];
    step.is_gru ? gru(k, row, c) : lstm(k, row, c);
  }
};

}  // namespace

void scan(const Scan& scan) {
  for_each("scan", ScanOp{scan}, scan.sentences * scan.columns);
}

void scan_backward(const Scan& scan, const ScanGradients& gradients) {
  for_each("scan_backward", ScanBackwardOp{scan, gradients}, scan.sentences * scan.columns);
}

void column_products(const Matrix<float>& x, const Matrix<float>& y, const Extent& extent, double* sums) {
  launch("column_sums", column_products_of_block, {dim3(blocks_for(extent.columns, kWarp)), kThreads}, x, y, extent,
         sums);
}

void map_columns(const MapOfColumns& map, const Extent& extent) {
  for_each("map_columns", MapColumnsOp{map, extent.columns}, extent.rows * extent.columns);
}

void mean_of_texts(const Texts& texts) {
  for_each("mean_of_texts", MeanOp{texts}, texts.texts * texts.columns);
}

void mean_of_texts_backward(const Texts& texts) {
  for_each("mean_of_texts_backward", MeanBackwardOp{texts}, texts.texts * texts.columns);
}

void unit_rows(const Matrix<float>& x, float least, const Matrix<float>& y, const Extent& extent) {
  launch("unit_rows", unit_row, {dim3(static_cast<unsigned>(extent.rows)), kThreads}, x, least, y, extent.columns);
}

void unit_rows_backward(const Matrix<float>& x, const Matrix<float>& grad_y, float least, const Matrix<float>& grad_x,
                        const Extent& extent) {
  launch("unit_rows_backward", unit_row_backward, {dim3(static_cast<unsigned>(extent.rows)), kThreads}, x, grad_y,
         least, grad_x, extent.columns);
}

void recurrent_cell(const CellStep& step) {
  for_each("recurrent_cell", CellOp{step}, step.sentences * step.width);
}

void recurrent_cell_backward(const CellStepBackward& step) {
  for_each("recurrent_cell_backward", CellBackwardOp{step}, step.sentences * step.width);
}

}  // namespace dragoman::kernels::cuda
