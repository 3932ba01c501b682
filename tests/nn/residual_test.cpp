#include "nn/residual.h"

#include <gtest/gtest.h>

#include "formulas.h"
#include "nn/linear.h"
#include "small_layers.h"

namespace dragoman::nn {
namespace {

// A linear sub-layer in a residual connection.
struct Connected {
  explicit Connected(const LayerConfig& config, DType dtype = DType::kFloat64)
      : residual(parameters, "part", config), sublayer(parameters, "map", config.d_model, config.d_model) {
    randomise(parameters, dtype);
  }

  Variable forward(const Variable& x, const ForwardContext& context = {}) const {
    return residual.forward(
        x, [&](const Variable& read) { return sublayer.forward(read); }, context);
  }

  ParameterSet parameters;
  Residual residual;
  Linear sublayer;
};

TEST(Residual, PostNormNormalisesTheSum) {
  const Connected model(small_config(NormOrder::kPost));
  const Formulas formulas(model.parameters);
  const Matrix x = matrix_of(random_tensor({4, 6}));
  const Matrix sum = add(x, formulas.linear("map", x));
  EXPECT_TRUE(close(model.forward(Variable(tensor_of(x))).value(),
                    tensor_of(formulas.layer_norm("part.norm", sum, 1e-5F)), 1e-13));
}

TEST(Residual, PreNormNormalisesWhatTheSublayerReads) {
  const Connected model(small_config(NormOrder::kPre));
  const Formulas formulas(model.parameters);
  const Matrix x = matrix_of(random_tensor({4, 6}));
  const Matrix change = formulas.linear("map", formulas.layer_norm("part.norm", x, 1e-5F));
  EXPECT_TRUE(close(model.forward(Variable(tensor_of(x))).value(), tensor_of(add(x, change)), 1e-13));
}

TEST(Residual, BackwardMatchesCentralDifferences) {
  for (const NormOrder order : kNormOrders) {
    for (const LayerConfig& config : {small_config(order), dropout_config(order)}) {
      const Connected model(config);
      check_layer_gradients(model.parameters, [&](const auto& inputs) { return model.forward(inputs[0], from_row(5)); },
                            {random_tensor({4, 6})});
    }
  }
}

TEST(Residual, DropoutOfAShardIsThatOfTheSameRowsOfTheWhole) {
  for (const NormOrder order : kNormOrders) {
    const Connected model(dropout_config(order), DType::kFloat32);
    const Tensor x = random_tensor({11, 6}, DType::kFloat32);
    const Tensor whole = model.forward(Variable(x), from_row(100)).value();
    const Variable shard(x.rows(4, 11));
    EXPECT_TRUE(same_bits(model.forward(shard, from_row(104)).value(), whole.rows(4, 11)));
    EXPECT_FALSE(same_bits(model.forward(shard, from_row(100)).value(), whole.rows(4, 11)));
  }
}

// A dropped element of the sub-layer leaves x: the connection itself is never dropped.
TEST(Residual, DropoutLeavesTheConnectionItself) {
  const Connected model(dropout_config(NormOrder::kPre));
  const Tensor x = random_tensor({50, 6});
  const std::vector<double> kept = model.forward(Variable(x)).value().to_vector<double>();
  const std::vector<double> seen = model.forward(Variable(x), training_context()).value().to_vector<double>();
  const std::vector<double> before = x.to_vector<double>();
  size_t dropped = 0;
  for (size_t index = 0; index < seen.size(); ++index) {
    dropped += seen[index] == before[index] ? 1 : 0;
    if (seen[index] != before[index]) {
      EXPECT_NEAR(seen[index] - before[index], (kept[index] - before[index]) / 0.7, 1e-4)
          << "0.7 as a multiple of 2^-16";
    }
  }
  EXPECT_GT(dropped, 60U);
  EXPECT_LT(dropped, 120U) << "0.3 of 300";
}

}  // namespace
}  // namespace dragoman::nn
