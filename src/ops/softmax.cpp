#include "ops/softmax.h"

#include "kernels/check_ids.h"
#include "kernels/cpu/rows/softmax_cpu.h"
#include "kernels/reference/softmax.h"

namespace dragoman::ops {
namespace {

const float* row_of(const Tensor& matrix, int64_t row) {
  return matrix.data<float>() + row * matrix.stride(0);
}
float* row_of(Tensor& matrix, int64_t row) {
  return matrix.data<float>() + row * matrix.stride(0);
}

// What tells softmax from log_softmax: row kernels and references, forward and backward.
struct Kind {
  const char* op;
  void (*row)(const float* row, int64_t columns, float* to);
  void (*row_backward)(const float* output, const float* grad_output, int64_t columns, float* grad);
  void (*exact)(const Tensor& x, Tensor& output);
  void (*exact_backward)(const Tensor& output, const Tensor& grad_output, Tensor& grad);
};

constexpr Kind kSoftmax{"softmax", kernels::softmax_row, kernels::softmax_row_backward, kernels::reference::softmax,
                        kernels::reference::softmax_backward};
constexpr Kind kLogSoftmax{"log_softmax", kernels::log_softmax_row, kernels::log_softmax_row_backward,
                           kernels::reference::log_softmax, kernels::reference::log_softmax_backward};

void forward(const Kind& kind, const Tensor& x, Tensor& output) {
  if (x.dtype() == DType::kFloat64) {
    kind.exact(x, output);
    return;
  }
  for (int64_t n = 0; n < x.dim(0); ++n) {
    kind.row(row_of(x, n), x.dim(1), row_of(output, n));
  }
}

Tensor backward(const Kind& kind, const Tensor& output, const Tensor& grad_output) {
  Tensor grad = Tensor::empty(output.shape(), output.dtype());
  if (output.dtype() == DType::kFloat64) {
    kind.exact_backward(output, grad_output, grad);
    return grad;
  }
  for (int64_t n = 0; n < output.dim(0); ++n) {
    kind.row_backward(row_of(output, n), row_of(grad_output, n), output.dim(1), row_of(grad, n));
  }
  return grad;
}

Variable apply(const Kind& kind, const Variable& x) {
  kernels::check_float(x.value(), kind.op, "x");
  tensor::check_matrix(x.value(), x.dtype(), kind.op, "x");
  Tensor output = Tensor::empty(x.shape(), x.dtype());  // [N, C]
  forward(kind, x.value(), output);
  return autograd::record(kind.op, output, {&x}, [&kind, x, output](const Tensor& grad_output) {
    x.add_grad(backward(kind, output, grad_output));  // of forward
  });
}

}  // namespace

Variable softmax(const Variable& x) {
  return apply(kSoftmax, x);
}

Variable log_softmax(const Variable& x) {
  return apply(kLogSoftmax, x);
}

}  // namespace dragoman::ops
