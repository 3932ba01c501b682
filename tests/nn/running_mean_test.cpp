// The sub-layers of a decoder that read the rows so far as a running mean: SSRU and average attention.
#include "nn/running_mean.h"

#include <gtest/gtest.h>

#include "formulas.h"
#include "nn/average_attention.h"
#include "nn/ssru.h"
#include "ops/scan.h"
#include "small_layers.h"

namespace dragoman::nn {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// The formulas of one sentence.
Matrix expected(const Ssru&, const ParameterSet& parameters, const Matrix& x) {
  const Formulas formulas(parameters);
  const Matrix forget = formulas.linear("layer.forget", x);
  const Matrix weight = matrix_of(parameters.find("layer.input.weight").variable.value());
  Matrix y = x;
  std::vector<double> state(x[0].size(), 0.0);
  for (size_t t = 0; t < x.size(); ++t) {
    for (size_t c = 0; c < state.size(); ++c) {
      double input = 0;
      for (size_t k = 0; k < weight.size(); ++k) {
        input += x[t][k] * weight[k][c];
      }
      const double f = sigmoid(forget[t][c]);
      state[c] = f * state[c] + (1 - f) * input;
      y[t][c] = std::max(0.0, state[c]);
    }
  }
  return y;
}

Matrix expected(const AverageAttention&, const ParameterSet& parameters, const Matrix& x) {
  const Formulas formulas(parameters);
  Matrix mean = x;
  for (size_t t = 0; t < x.size(); ++t) {
    for (size_t c = 0; c < x[t].size(); ++c) {
      mean[t][c] = 0;
      for (size_t s = 0; s <= t; ++s) {
        mean[t][c] += x[s][c] / static_cast<double>(t + 1);
      }
    }
  }
  const Matrix g = formulas.feed_forward("layer.feed_forward", mean);
  Matrix both = x;
  for (size_t t = 0; t < x.size(); ++t) {
    both[t].insert(both[t].end(), g[t].begin(), g[t].end());
  }
  const Matrix input = formulas.linear("layer.input_gate", both), forget = formulas.linear("layer.forget_gate", both);
  Matrix y = x;
  for (size_t t = 0; t < x.size(); ++t) {
    for (size_t c = 0; c < x[t].size(); ++c) {
      y[t][c] = sigmoid(input[t][c]) * x[t][c] + sigmoid(forget[t][c]) * g[t][c];
    }
  }
  return y;
}

template <typename Layer>
struct Made {
  explicit Made(const LayerConfig& config = small_config(), DType dtype = DType::kFloat64)
      : layer(parameters, "layer", config) {
    randomise(parameters, dtype);
  }
  Variable forward(const Variable& x, const RaggedRows& rows, const ForwardContext& context = {}) const {
    RaggedRunningMean mean(rows);
    return layer.forward(x, mean, context.over(rows));
  }

  ParameterSet parameters;
  Layer layer;
};

template <typename Layer>
class RunningMeans : public testing::Test {};
using Layers = testing::Types<Ssru, AverageAttention>;
TYPED_TEST_SUITE(RunningMeans, Layers);

TYPED_TEST(RunningMeans, AreTheFormulaWithinEachSentence) {
  const Made<TypeParam> made;
  const Tensor x = random_tensor({5, 6});
  const Tensor y = made.forward(Variable(x), rows_of({2, 3})).value();
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 2}, {2, 5}}) {
    const Matrix formula = expected(made.layer, made.parameters, matrix_of(x.rows(begin, end)));
    EXPECT_TRUE(close(y.rows(begin, end), tensor_of(formula), 1e-12)) << "rows from " << begin;
  }
}

TYPED_TEST(RunningMeans, BackwardMatchesCentralDifferences) {
  for (const LayerConfig& config : {small_config(), dropout_config()}) {
    const Made<TypeParam> made(config);
    check_layer_gradients(made.parameters,
                          [&](const auto& inputs) {
                            return made.forward(inputs[0], rows_of({2, 3}, 5), training_context());
                          },
                          {random_tensor({5, 6})});
  }
}

TYPED_TEST(RunningMeans, AShardIsTheSameRowsOfTheWhole) {
  const Made<TypeParam> made(dropout_config(), DType::kFloat32);
  const Tensor x = random_tensor({5, 6}, DType::kFloat32);
  const Tensor whole = made.forward(Variable(x), rows_of({2, 3}, 100), training_context()).value();
  const Tensor shard = made.forward(Variable(x.rows(2, 5)), rows_of({3}, 102), training_context()).value();
  EXPECT_TRUE(same_bits(shard, whole.rows(2, 5)));
}

// Keeps the mean of one sentence, as decoding does.
class KeptMean : public RunningMean {
 public:
  Variable scan(const Variable& x, const Variable& keep) override {
    const Variable y = ops::scan(x, keep, Tensor::from(std::vector<int32_t>{0, 1}, {2}), kept_);
    kept_ = y.value();
    ++row_;
    return y;
  }
  Tensor positions() const override { return Tensor::from(std::vector<int32_t>{row_}, {1}); }

 private:
  Tensor kept_;
  int32_t row_ = 0;
};

TYPED_TEST(RunningMeans, RowAfterRowHasTheBitsOfTheWholeSentence) {
  const Made<TypeParam> made(small_config(), DType::kFloat32);
  const Tensor x = random_tensor({5, 6}, DType::kFloat32);
  const Tensor whole = made.forward(Variable(x), rows_of({5})).value();
  KeptMean mean;
  for (int64_t row = 0; row < 5; ++row) {
    const Tensor step = made.layer.forward(Variable(x.rows(row, row + 1)), mean, {}).value();
    EXPECT_TRUE(same_bits(step, whole.rows(row, row + 1).clone())) << "row " << row;
  }
}

}  // namespace
}  // namespace dragoman::nn
