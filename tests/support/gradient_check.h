#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "autograd/variable.h"
#include "support/tensors.h"

namespace dragoman::test_support {

using autograd::Variable;
using Function = std::function<Variable(const std::vector<Variable>&)>;

/// Returns: sum(weights * y), recorded without another op, so that ops are checked one at a time.
inline Variable weighted_sum(const Variable& y, const Tensor& weights) {
  const std::vector<double> left = y.value().to_vector<double>(), right = weights.to_vector<double>();
  double sum = 0;
  for (size_t index = 0; index < left.size(); ++index) {
    sum += left[index] * right[index];
  }
  return autograd::record("weighted_sum", Tensor::full({}, sum, DType::kFloat64), {&y},
                          [y, weights](const Tensor&) { y.add_grad(weights.clone()); });
}

/// Returns: the gradients of sum(weights * function(inputs)) by backward, in the order of `inputs`, in any float dtype.
inline std::vector<Tensor> gradients(const Function& function, const std::vector<Tensor>& inputs,
                                     const Tensor& weights) {
  std::vector<Variable> variables;
  for (const Tensor& input : inputs) {
    variables.emplace_back(input, true);
  }
  autograd::Tape tape;
  const autograd::TapeScope scope(&tape);
  const Variable y = function(variables);
  const Variable loss = autograd::record("weighted_sum", Tensor::zeros({}, y.dtype()), {&y},
                                         [y, weights](const Tensor&) { y.add_grad(weights.clone()); });
  tape.backward(loss);
  std::vector<Tensor> grads;
  for (const Variable& variable : variables) {
    grads.push_back(variable.has_grad() ? variable.grad() : Tensor::zeros(variable.shape(), variable.dtype()));
  }
  return grads;
}

/// Compares the backward of `function` with central differences, in float64, for every element of every input.
/// The output is weighted with fixed random numbers, or with 1 if it is a single element. Fails naming input and
/// element unless |analytic - numeric| <= tolerance * max(1, |numeric|).
inline void check_gradients(const Function& function, const std::vector<Tensor>& inputs, double tolerance = 1e-6) {
  const auto evaluate = [&](const std::vector<Tensor>& at) {
    std::vector<Variable> variables;
    for (const Tensor& input : at) {
      variables.emplace_back(input);
    }
    return function(variables);
  };
  const Variable y = evaluate(inputs);
  const Tensor weights = y.value().size() == 1 ? Tensor::full(y.shape(), 1.0, DType::kFloat64)
                                               : random_tensor(y.shape(), DType::kFloat64, 99);
  const std::vector<Tensor> analytic = gradients(function, inputs, weights);
  for (size_t which = 0; which < inputs.size(); ++which) {
    std::vector<Tensor> moved = inputs;
    for (int64_t index = 0; index < inputs[which].size(); ++index) {
      const auto loss_at = [&](double step) {
        moved[which] = inputs[which].clone();
        moved[which].data<double>()[index] += step;
        return weighted_sum(evaluate(moved), weights).value().item();
      };
      constexpr double kStep = 1e-5;
      const double numeric = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      const double seen = analytic[which].to_vector<double>()[static_cast<size_t>(index)];
      ASSERT_LE(std::abs(seen - numeric), tolerance * std::max(1.0, std::abs(numeric)))
          << "input " << which << " " << inputs[which].shape().to_string() << ", element " << index
          << ": backward gives " << seen << ", central differences " << numeric;
    }
  }
}

}  // namespace dragoman::test_support
