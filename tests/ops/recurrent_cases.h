#pragma once

#include "ops/recurrent.h"
#include "support/gradient_check.h"
#include "tensor/transfer.h"

namespace dragoman::ops {

using test_support::Function;
using test_support::random_tensor;

/// A layer, and a source for it, whose inputs are a list of tensors: what the tests of recurrent ops share.
struct RecurrentCase {
  CellKind cell = CellKind::kGru;
  Direction direction = Direction::kForward;
  int64_t width = 3;                            ///< H
  int64_t context = 4;                          ///< C
  std::vector<int32_t> offsets = {0, 3, 4, 8};  ///< of the rows
  std::vector<int32_t> sources = {0, 2, 5, 6};  ///< of the source rows
  ScoreKind score = ScoreKind::kAdditive;
  int64_t keys = 5;  ///< A of additive scores
  int64_t fed = 2;   ///< F of input feeding

  int64_t columns() const { return kernels::gates_of(cell) * width; }
  int64_t rows() const { return offsets.back(); }
  int64_t sentences() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t key_width() const { return score == ScoreKind::kAdditive ? keys : width; }

  /// gates, U, b, h, c
  std::vector<Tensor> layer_inputs() const {
    return random_inputs(
        {{rows(), columns()}, {width, columns()}, {columns()}, {sentences(), width}, {sentences(), width}});
  }
  Function layer() const {
    return [*this](const std::vector<Variable>& in) {
      return recurrent_layer(in[0], tensor::host_tensor(offsets), {cell, in[1], in[2]}, state(in), direction);
    };
  }
  /// those, keys, values, W_fed, W_query, v
  std::vector<Tensor> attentive_inputs() const {
    std::vector<Tensor> inputs = layer_inputs();
    const std::vector<Tensor> more = random_inputs({{sources.back(), key_width()},
                                                    {sources.back(), context},
                                                    {context, columns()},
                                                    {width, key_width()},
                                                    {key_width()}});
    inputs.insert(inputs.end(), more.begin(), more.end());
    return inputs;
  }
  SourceMemory memory(const std::vector<Variable>& in) const {
    return source_memory(score, in[5], in[6], tensor::host_tensor(sources));
  }
  AttentiveWeights weights(const std::vector<Variable>& in) const {
    return {{cell, in[1], in[2]}, in[7], in[8], in[9], {Variable()}, {}};
  }
  Function attentive() const {
    return [*this](const std::vector<Variable>& in) {
      return attentive_layer(in[0], tensor::host_tensor(offsets), weights(in), memory(in), state(in));
    };
  }
  /// those, Wc, its bias, what is fed first
  std::vector<Tensor> feeding_inputs() const {
    std::vector<Tensor> inputs = attentive_inputs();
    inputs[7] = random_tensor({fed, columns()}, DType::kFloat64, 31);
    const std::vector<Tensor> more = random_inputs({{context + width, fed}, {fed}, {sentences(), fed}});
    inputs.insert(inputs.end(), more.begin(), more.end());
    return inputs;
  }
  AttentiveWeights feeding_weights(const std::vector<Variable>& in) const {
    AttentiveWeights all = weights(in);
    all.combine = in[10];
    all.combine_bias = in[11];
    return all;
  }
  Function feeding() const {
    return [*this](const std::vector<Variable>& in) {
      return input_feeding_layer(in[0], tensor::host_tensor(offsets), feeding_weights(in), memory(in), state(in),
                                 in[12]);
    };
  }
  RecurrentState state(const std::vector<Variable>& in) const {
    return {in[3], cell == CellKind::kLstm ? in[4] : Variable()};
  }

 private:
  static std::vector<Tensor> random_inputs(const std::vector<tensor::Shape>& shapes) {
    std::vector<Tensor> inputs;
    for (const tensor::Shape& shape : shapes) {
      inputs.push_back(random_tensor(shape, DType::kFloat64, 11 + inputs.size() + static_cast<uint64_t>(shape.size())));
    }
    return inputs;
  }
};

}  // namespace dragoman::ops
