// Updates of a Transformer on a GPU, or on its emulation, are those of the CPU.
#include <gtest/gtest.h>

#include "cuda/model_updates.h"
#include "support/cuda_device.h"
#include "support/cuda_test.h"
#include "support/tensors.h"
#include "support/tiny_config.h"

namespace dragoman::models {
namespace {

using kernels::Precision;
using test_support::ModelUpdates;
using test_support::OnCuda;

class CudaModel : public test_support::CudaTest {};

/// The loss of each update, and the weights after the last.
struct Trained {
  std::vector<double> losses;
  std::vector<float> weights;
};

// Updates on the current device, with dropout everywhere.
Trained train(Precision precision, int steps = 20) {
  TransformerConfig config = test_support::tiny_config();
  config.encoder_layers = config.decoder_layers = 1;
  config.dropout = 0.2F;
  config.attention_dropout = config.activation_dropout = config.source_word_dropout = 0.1F;
  ModelUpdates updates(config, precision);
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    trained.losses.push_back(updates.update({5, 1, 12, 40, 3 + step, 8}));
  }
  trained.weights = updates.weights();
  return trained;
}

TEST_F(CudaModel, TwentyUpdatesWithDropoutLoseAsOnTheCpu) {
  const Trained expected = train(Precision::kFloat32);
  const OnCuda device;
  const Trained seen = train(Precision::kFloat32);
  EXPECT_NEAR(seen.losses.front(), expected.losses.front(), 1e-5 * expected.losses.front());
  for (size_t step = 0; step < seen.losses.size(); ++step) {
    EXPECT_NEAR(seen.losses[step], expected.losses[step], 1e-3 * expected.losses[step]) << "update " << step + 1;
  }
  EXPECT_LT(seen.losses.back(), seen.losses.front());
}

TEST_F(CudaModel, ARunGivesTheSameBitsAgain) {
  const OnCuda device;
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    const Trained first = train(precision, 5), second = train(precision, 5);
    EXPECT_EQ(first.losses, second.losses);
    EXPECT_EQ(first.weights, second.weights);
  }
}

TEST_F(CudaModel, UpdatesInBfloat16LoseNearlyTheSame) {
  const Trained expected = train(Precision::kFloat32);
  const OnCuda device;
  const Trained seen = train(Precision::kBFloat16);
  for (size_t step = 0; step < seen.losses.size(); ++step) {
    EXPECT_NEAR(seen.losses[step], expected.losses[step], 1e-2 * expected.losses[step]) << "update " << step + 1;
  }
}

TEST_F(CudaModel, RoundedWeightsFollowTheValues) {
  const OnCuda device;
  nn::ParameterSet parameters;
  const nn::ParameterHandle first = parameters.declare_weight("first", {3, 5}, nn::Initializer::kXavierUniform);
  const nn::ParameterHandle second = parameters.declare_weight("second", {40, 16}, nn::Initializer::kXavierUniform);
  parameters.allocate();
  parameters.initialize(1);
  parameters.allocate_packing(Precision::kBFloat16);
  const auto expect_rounded = [&] {
    for (const nn::ParameterHandle& parameter : {first, second}) {
      const ops::Weight weight = parameter->weight();
      EXPECT_TRUE(test_support::same_bits(tensor::to_host(weight.rounded),
                                          tensor::to_host(weight.variable.value()).to(tensor::DType::kBFloat16)));
    }
  };
  expect_rounded();
  parameters.mutable_values().fill(0.3);
  expect_rounded();
  parameters.allocate_packing(Precision::kFloat32);
  EXPECT_FALSE(first->weight().rounded.defined());
}

}  // namespace
}  // namespace dragoman::models
