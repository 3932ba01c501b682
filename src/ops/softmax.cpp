#include "ops/softmax.h"

#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"

namespace dragoman::ops {
namespace {

using kernels::Backend;

// What tells softmax from log_softmax.
struct Kind {
  const char* op;
  void (Backend::*forward)(const Tensor& x, Tensor& output) const;
  void (Backend::*backward)(const Tensor& output, const Tensor& grad_output, Tensor& grad) const;
};

constexpr Kind kSoftmax{"softmax", &Backend::softmax, &Backend::softmax_backward};
constexpr Kind kLogSoftmax{"log_softmax", &Backend::log_softmax, &Backend::log_softmax_backward};

Variable apply(const Kind& kind, const Variable& x) {
  kernels::check_float(x.value(), kind.op, "x");
  tensor::check_matrix(x.value(), x.dtype(), kind.op, "x");
  Tensor output = Tensor::empty(x.shape(), x.dtype());  // [N, C]
  (kernels::backend_of(output).*kind.forward)(x.value(), output);
  return autograd::record(kind.op, output, {&x}, [&kind, x, output](const Tensor& grad_output) {
    Tensor grad = Tensor::empty(output.shape(), output.dtype());  // [N, C]
    (kernels::backend_of(grad).*kind.backward)(output, grad_output, grad);
    x.add_grad(grad);
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
