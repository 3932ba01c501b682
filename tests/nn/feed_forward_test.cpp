#include "nn/feed_forward.h"

#include <gtest/gtest.h>

#include "formulas.h"
#include "small_layers.h"

namespace dragoman::nn {
namespace {

TEST(FeedForward, IsTheFormula) {
  ParameterSet parameters;
  const FeedForward layer(parameters, "ffn", small_config());
  randomise(parameters);
  const Tensor x = random_tensor({4, 6});
  EXPECT_TRUE(close(layer.forward(Variable(x), {}).value(),
                    tensor_of(Formulas(parameters).feed_forward("ffn", matrix_of(x))), 1e-14));
}

TEST(FeedForward, BackwardMatchesCentralDifferences) {
  for (const LayerConfig& config : {small_config(), dropout_config()}) {
    ParameterSet parameters;
    const FeedForward layer(parameters, "ffn", config);
    randomise(parameters);
    check_layer_gradients(parameters, [&](const auto& inputs) { return layer.forward(inputs[0], from_row(5)); },
                          {random_tensor({4, 6})});
  }
}

TEST(FeedForward, DropoutOfAShardIsThatOfTheSameRowsOfTheWhole) {
  ParameterSet parameters;
  const FeedForward layer(parameters, "ffn", dropout_config());
  randomise(parameters, DType::kFloat32);
  const Tensor x = random_tensor({11, 6}, DType::kFloat32);
  const Tensor whole = layer.forward(Variable(x), from_row(100)).value();
  EXPECT_TRUE(same_bits(layer.forward(Variable(x.rows(4, 11)), from_row(104)).value(), whole.rows(4, 11)));
  EXPECT_FALSE(same_bits(layer.forward(Variable(x.rows(4, 11)), from_row(100)).value(), whole.rows(4, 11)))
      << "the number of the row counts";
}

// More rows than inference takes at once.
TEST(FeedForward, ManyRowsInInferenceAreThoseOfTraining) {
  ParameterSet parameters;
  const FeedForward layer(parameters, "ffn", small_config());
  randomise(parameters, DType::kFloat32);
  const Tensor x = random_tensor({300, 6}, DType::kFloat32);
  const Tensor inferred = layer.forward(Variable(x), {}).value();
  autograd::Tape tape;
  const autograd::TapeScope scope(&tape);
  EXPECT_TRUE(same_bits(inferred, layer.forward(Variable(x), training_context()).value()));
}

}  // namespace
}  // namespace dragoman::nn
