#pragma once

#include <vector>

#include "autograd/variable.h"

namespace dragoman::autograd {

/// Returns: a vector that asks for its gradient.
inline Variable leaf(std::vector<float> values) {
  const auto size = static_cast<int64_t>(values.size());
  return Variable(Tensor::from(values, {size}), /*requires_grad=*/true);
}

/// Returns: a + b. The backward hands the gradient on unchanged to both inputs.
inline Variable add(const Variable& a, const Variable& b) {
  Tensor value = a.value().clone();
  for (int64_t index = 0; index < value.size(); ++index) {
    value.data<float>()[index] += b.value().data<float>()[index];
  }
  return record("add", value, {&a, &b}, [a, b](const Tensor& grad_output) {
    a.add_grad(grad_output);
    b.add_grad(grad_output);
  });
}

}  // namespace dragoman::autograd
