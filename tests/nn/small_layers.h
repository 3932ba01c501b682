#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "nn/context.h"
#include "nn/layer_config.h"
#include "nn/parameters.h"
#include "support/gradient_check.h"

namespace dragoman::nn {

using tensor::DType;
using test_support::close;
using test_support::random_tensor;
using test_support::same_bits;

inline constexpr NormOrder kNormOrders[] = {NormOrder::kPost, NormOrder::kPre};

/// Widths for tests of single layers; no dropout.
inline LayerConfig small_config(NormOrder order = NormOrder::kPost) {
  LayerConfig config;
  config.d_model = 6;
  config.d_ff = 5;
  config.n_heads = 2;
  config.norm_order = order;
  config.dropout = 0.0F;
  return config;
}

/// The same with dropout in every place that has one.
inline LayerConfig dropout_config(NormOrder order = NormOrder::kPost) {
  LayerConfig config = small_config(order);
  config.dropout = 0.3F;
  config.attention_dropout = 0.2F;
  config.activation_dropout = 0.4F;
  return config;
}

/// A step of training, so that dropout acts.
inline ForwardContext training_context(uint32_t step = 3) {
  ForwardContext context;
  context.training = true;
  context.seed = 7;
  context.step = step;
  return context;
}

/// The same for rows that begin at `first_row` of the update.
inline ForwardContext from_row(int64_t first_row, uint32_t step = 3) {
  ForwardContext context = training_context(step);
  context.first_row = first_row;
  return context;
}

/// Random values for all parameters, gains and biases included, so that each has an effect.
inline void randomise(ParameterSet& parameters, tensor::DType dtype = tensor::DType::kFloat64) {
  parameters.allocate(dtype);
  parameters.mutable_values().copy_from(test_support::random_tensor({parameters.flat_size()}, dtype, 3));
}

/// The rows of sentences of these lengths.
inline RaggedRows rows_of(const std::vector<int32_t>& lengths, int64_t first_row = 0) {
  std::vector<int32_t> offsets{0}, positions;
  for (const int32_t length : lengths) {
    offsets.push_back(offsets.back() + length);
    for (int32_t position = 0; position < length; ++position) {
      positions.push_back(position);
    }
  }
  const auto sentences = static_cast<int64_t>(lengths.size());
  return {Tensor::from(offsets, {sentences + 1}), Tensor::from(positions, {static_cast<int64_t>(positions.size())}),
          first_row};
}

/// Compares the backward of a layer with central differences, for every element of its inputs and parameters.
inline void check_layer_gradients(const ParameterSet& parameters, const test_support::Function& forward,
                                  std::vector<Tensor> inputs) {
  const size_t count = inputs.size();
  for (const ParameterHandle& parameter : parameters.parameters()) {
    inputs.push_back(parameter->variable.value().clone());
  }
  const auto layer = [&](const std::vector<Variable>& variables) {
    for (size_t index = count; index < variables.size(); ++index) {
      parameters.parameters()[index - count]->variable = variables[index];
    }
    return forward({variables.begin(), variables.begin() + static_cast<ptrdiff_t>(count)});
  };
  test_support::check_gradients(layer, inputs);
}

}  // namespace dragoman::nn
