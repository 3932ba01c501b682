#include "ops/elementwise.h"

#include <utility>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"

namespace dragoman::ops {
namespace {

using kernels::ElementMap;
using kernels::PairMap;

void check_operand(const Tensor& x, const char* op, const char* argument) {
  kernels::check_float(x, op, argument);
  base::check_argument(x.is_contiguous(), "{}: {} {} is a strided view; clone it first", op, argument, x.shape());
}

Tensor map(const Tensor& x, ElementMap map) {
  Tensor output = Tensor::empty(x.shape(), x.dtype());
  kernels::backend_of(output).map(map, x, output);
  return output;
}

// An operand of one element is used for every element of the other.
Tensor map(const Tensor& left, const Tensor& right, PairMap map) {
  Tensor output = Tensor::empty(left.size() == 1 ? right.shape() : left.shape(), left.dtype());
  kernels::backend_of(output).map_pairs(map, left, right, output);
  return output;
}

double total(const Tensor& x) {
  return kernels::backend_of(x).sum(x);
}

// A factor as a tensor of one element.
Tensor single(double value, DType dtype) {
  Tensor factor = Tensor::empty({}, dtype);
  kernels::backend_of(factor).fill(value, factor);
  return factor;
}

// Hands the gradient of a result on to an operand; one element that was used everywhere gets the sum.
void add_operand_grad(const Variable& operand, const Tensor& grad) {
  if (operand.requires_grad()) {
    const bool spread = operand.value().size() == 1 && grad.size() != 1;
    operand.add_grad(spread ? Tensor::full(operand.shape(), total(grad), operand.dtype())
                            : grad.reshape(operand.shape()));
  }
}

// A matrix in float32 or bfloat16, without a way over the host.
Tensor converted(const Tensor& x, DType dtype) {
  if (x.device().is_host()) {
    return x.to(dtype);
  }
  Tensor y = Tensor::empty(x.shape(), dtype);
  kernels::backend_of(y.device(), DType::kFloat32).copy_rounded(x, y);
  return y;
}

void check_pair(const Variable& left, const Variable& right, const char* op) {
  check_operand(left.value(), op, "left");
  check_operand(right.value(), op, "right");
  base::check_argument(left.dtype() == right.dtype(), "{}: left is {}, right is {}; must be equal", op,
                       tensor::dtype_name(left.dtype()), tensor::dtype_name(right.dtype()));
  base::check_argument(left.shape() == right.shape() || left.value().size() == 1 || right.value().size() == 1,
                       "{}: left is {}, right is {}; shapes must be equal or one side a single element", op,
                       left.shape(), right.shape());
}

}  // namespace

Variable add(const Variable& left, const Variable& right) {
  check_pair(left, right, "add");
  Tensor output = map(left.value(), right.value(), PairMap::kAdd);
  return autograd::record("add", std::move(output), {&left, &right}, [left, right](const Tensor& grad_output) {
    add_operand_grad(left, grad_output);
    add_operand_grad(right, grad_output);
  });
}

Variable subtract(const Variable& left, const Variable& right) {
  check_pair(left, right, "subtract");
  Tensor output = map(left.value(), right.value(), PairMap::kSubtract);
  return autograd::record("subtract", std::move(output), {&left, &right}, [left, right](const Tensor& grad_output) {
    add_operand_grad(left, grad_output);
    add_operand_grad(right, map(grad_output, ElementMap::kNegate));
  });
}

Variable multiply(const Variable& left, const Variable& right) {
  check_pair(left, right, "multiply");
  Tensor output = map(left.value(), right.value(), PairMap::kMultiply);
  return autograd::record("multiply", std::move(output), {&left, &right}, [left, right](const Tensor& grad_output) {
    add_operand_grad(left, map(grad_output, right.value(), PairMap::kMultiply));
    add_operand_grad(right, map(grad_output, left.value(), PairMap::kMultiply));
  });
}

Variable scale(const Variable& x, double factor) {
  check_operand(x.value(), "scale", "x");
  Tensor output = map(x.value(), single(factor, x.dtype()), PairMap::kMultiply);
  return autograd::record("scale", std::move(output), {&x}, [x, factor](const Tensor& grad_output) {
    x.add_grad(map(grad_output, single(factor, x.dtype()), PairMap::kMultiply));
  });
}

Variable square(const Variable& x) {
  check_operand(x.value(), "square", "x");
  return autograd::record(
      "square", map(x.value(), x.value(), PairMap::kMultiply), {&x},
      [x](const Tensor& grad_output) { x.add_grad(map(grad_output, x.value(), PairMap::kTwiceProduct)); });
}

Variable exp(const Variable& x) {
  check_operand(x.value(), "exp", "x");
  Tensor output = map(x.value(), ElementMap::kExp);
  return autograd::record("exp", output, {&x}, [x, output](const Tensor& grad_output) {
    x.add_grad(map(grad_output, output, PairMap::kMultiply));
  });
}

Variable sum(const Variable& x) {
  check_operand(x.value(), "sum", "x");
  return autograd::record("sum", single(total(x.value()), x.dtype()), {&x}, [x](const Tensor& grad_output) {
    x.add_grad(Tensor::full(x.shape(), grad_output.item(), x.dtype()));
  });
}

Variable mean(const Variable& x) {
  base::check_argument(x.value().size() > 0, "mean: x is {}, must have elements", x.shape());
  return scale(sum(x), 1.0 / static_cast<double>(x.value().size()));
}

Variable widened(const Variable& x) {
  if (!is_bfloat16(x.value())) {
    return x;
  }
  return autograd::record("widened", converted(x.value(), DType::kFloat32), {&x},
                          [x](const Tensor& grad_output) { x.add_grad(converted(grad_output, DType::kBFloat16)); });
}

}  // namespace dragoman::ops
