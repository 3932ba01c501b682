#include "nn/norm.h"

#include <gtest/gtest.h>

#include "formulas.h"
#include "small_layers.h"

namespace dragoman::nn {
namespace {

constexpr float kEpsilon = 0.25F;  // large and exact, so that its place in the formula shows

LayerConfig norm_config(int64_t d_model, float epsilon) {
  LayerConfig config;
  config.d_model = d_model;
  config.layer_norm_epsilon = epsilon;
  return config;
}

TEST(LayerNorm, IsTheFormula) {
  ParameterSet parameters;
  const Norm layer(parameters, "norm", norm_config(6, kEpsilon));
  randomise(parameters);
  const Tensor x = random_tensor({4, 6});
  EXPECT_TRUE(close(layer.forward(Variable(x)).value(),
                    tensor_of(Formulas(parameters).layer_norm("norm", matrix_of(x), kEpsilon)), 1e-14));
}

TEST(LayerNorm, BackwardMatchesCentralDifferences) {
  ParameterSet parameters;
  const Norm layer(parameters, "norm", norm_config(6, kEpsilon));
  randomise(parameters);
  check_layer_gradients(parameters, [&](const auto& inputs) { return layer.forward(inputs[0]); },
                        {random_tensor({4, 6})});
}

TEST(LayerNorm, BeginsAsTheNormalisationAlone) {
  ParameterSet parameters;
  const Norm layer(parameters, "norm", norm_config(2, 0.0F));
  parameters.allocate(tensor::DType::kFloat64);
  parameters.initialize(1);
  const Tensor x = Tensor::from(std::vector<double>{3, 7}, {1, 2});
  EXPECT_TRUE(close(layer.forward(Variable(x)).value(), Tensor::from(std::vector<double>{-1, 1}, {1, 2}), 1e-14));
}

}  // namespace
}  // namespace dragoman::nn
