#include "nn/encoder_layer.h"

#include <gtest/gtest.h>

#include "autograd/recompute.h"
#include "formulas.h"
#include "small_layers.h"

namespace dragoman::nn {
namespace {

struct Encoder {
  explicit Encoder(const LayerConfig& config, DType dtype = DType::kFloat64) : layer(parameters, "layer", config) {
    randomise(parameters, dtype);
  }

  ParameterSet parameters;
  EncoderLayer layer;
};

// One sentence.
Matrix encoded(const Formulas& formulas, const Matrix& x, NormOrder order) {
  const auto attend = [&](const Matrix& h) { return formulas.attention("layer.self_attention", h, h, 2, false); };
  const auto feed_forward = [&](const Matrix& h) { return formulas.feed_forward("layer.feed_forward", h); };
  const auto norm = [&](const std::string& part, const Matrix& h) {
    return formulas.layer_norm("layer." + part + ".norm", h, 1e-5F);
  };
  if (order == NormOrder::kPost) {
    const Matrix h = norm("self_attention", add(x, attend(x)));
    return norm("feed_forward", add(h, feed_forward(h)));
  }
  const Matrix h = add(x, attend(norm("self_attention", x)));
  return add(h, feed_forward(norm("feed_forward", h)));
}

TEST(EncoderLayer, IsTheFormulaWithinEachSentence) {
  for (const NormOrder order : kNormOrders) {
    const Encoder model(small_config(order));
    const Formulas formulas(model.parameters);
    const Tensor x = random_tensor({6, 6});
    const Tensor y = model.layer.forward(Variable(x), rows_of({2, 4}), {}).value();
    EXPECT_TRUE(close(y.rows(0, 2), tensor_of(encoded(formulas, matrix_of(x.rows(0, 2)), order)), 1e-12));
    EXPECT_TRUE(close(y.rows(2, 6), tensor_of(encoded(formulas, matrix_of(x.rows(2, 6)), order)), 1e-12));
  }
}

TEST(EncoderLayer, BackwardMatchesCentralDifferences) {
  for (const NormOrder order : kNormOrders) {
    for (const LayerConfig& config : {small_config(order), dropout_config(order)}) {
      const Encoder model(config);
      check_layer_gradients(model.parameters,
                            [&](const auto& inputs) {
                              return model.layer.forward(inputs[0], rows_of({2, 4}, 5), training_context());
                            },
                            {random_tensor({6, 6})});
    }
  }
}

TEST(EncoderLayer, AShardIsTheSameRowsOfTheWhole) {
  for (const NormOrder order : kNormOrders) {
    const Encoder model(dropout_config(order), DType::kFloat32);
    const Tensor x = random_tensor({9, 6}, DType::kFloat32);
    const Tensor whole = model.layer.forward(Variable(x), rows_of({2, 4, 3}, 100), training_context()).value();
    EXPECT_TRUE(same_bits(model.layer.forward(Variable(x.rows(2, 9)), rows_of({4, 3}, 102), training_context()).value(),
                          whole.rows(2, 9)));
    EXPECT_TRUE(same_bits(model.layer.forward(Variable(x.rows(2, 6)), rows_of({4}, 102), training_context()).value(),
                          whole.rows(2, 6)));
  }
}

TEST(EncoderLayer, Float32IsNearFloat64) {
  const Encoder precise(small_config()), fast(small_config(), DType::kFloat32);
  const Tensor x = random_tensor({6, 6});
  EXPECT_TRUE(close(fast.layer.forward(Variable(x.to(DType::kFloat32)), rows_of({2, 4}), {}).value(),
                    precise.layer.forward(Variable(x), rows_of({2, 4}), {}).value(), 1e-5));
}

// Output and gradients, one after the other.
std::vector<Tensor> trained(bool recomputed) {
  Encoder model(dropout_config(), DType::kFloat32);
  model.parameters.allocate_gradients();
  const Variable x(random_tensor({6, 6}, DType::kFloat32), true);
  autograd::Tape tape;
  const autograd::TapeScope scope(&tape);
  const auto part = [&] { return model.layer.forward(x, rows_of({2, 4}, 5), training_context()); };
  const Variable y = recomputed ? autograd::recompute("layer", part) : part();
  tape.backward_from(y, random_tensor({6, 6}, DType::kFloat32, 2));
  return {y.value(), x.grad(), model.parameters.gradients()};
}

TEST(EncoderLayer, ComputedAgainInTheBackwardItDropsTheSameElements) {
  const std::vector<Tensor> kept = trained(false), again = trained(true);
  for (size_t index = 0; index < kept.size(); ++index) {
    EXPECT_TRUE(same_bits(again[index], kept[index])) << index;
  }
}

}  // namespace
}  // namespace dragoman::nn
