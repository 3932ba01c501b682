#include "nn/linear.h"

#include <gtest/gtest.h>

#include "formulas.h"
#include "small_layers.h"

namespace dragoman::nn {
namespace {

TEST(Linear, IsTheFormula) {
  ParameterSet parameters;
  const Linear layer(parameters, "map", 5, 7);
  randomise(parameters);
  const Tensor x = random_tensor({4, 5});
  EXPECT_TRUE(
      close(layer.forward(Variable(x)).value(), tensor_of(Formulas(parameters).linear("map", matrix_of(x))), 1e-14));
}

TEST(Linear, BackwardMatchesCentralDifferences) {
  ParameterSet parameters;
  const Linear layer(parameters, "map", 5, 7);
  randomise(parameters);
  check_layer_gradients(parameters, [&](const auto& inputs) { return layer.forward(inputs[0]); },
                        {random_tensor({4, 5})});
}

TEST(Linear, WithAnActivationEqualsBothOneAfterTheOther) {
  ParameterSet parameters;
  const Linear layer(parameters, "map", 40, 70);
  randomise(parameters, DType::kFloat32);
  parameters.pack_weights();
  const Variable x(random_tensor({9, 40}, DType::kFloat32));
  for (const auto activation : {kernels::Activation::kRelu, kernels::Activation::kGelu, kernels::Activation::kSilu,
                                kernels::Activation::kGeluTanh, kernels::Activation::kReluSquared}) {
    EXPECT_TRUE(same_bits(layer.forward(x, activation).value(), ops::activation(layer.forward(x), activation).value()));
  }
}

TEST(Linear, BeginsWithXavierWeightsAndWithoutBias) {
  ParameterSet parameters;
  const Linear layer(parameters, "map", 30, 20);
  parameters.allocate();
  parameters.initialize(1);
  const double bound = std::sqrt(6.0 / 50);
  double largest = 0;
  for (const float value : parameters.find("map.weight").variable.value().span<float>()) {
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.95 * bound) << "600 draws come near the bound";
  EXPECT_TRUE(same_bits(parameters.find("map.bias").variable.value(), Tensor::zeros({20})));
}

}  // namespace
}  // namespace dragoman::nn
