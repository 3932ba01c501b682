// The options of layers beyond the paper's (LayerOptions), each against its formula and its law.
#include "nn/layer_options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "formulas.h"
#include "nn/encoder_layer.h"
#include "nn/feed_forward.h"
#include "nn/multi_head_attention.h"
#include "nn/norm.h"
#include "nn/rotation.h"
#include "small_layers.h"
#include "support/error_of.h"

namespace dragoman::nn {
namespace {

LayerConfig with(void (*change)(LayerOptions&), LayerConfig config = small_config()) {
  change(config.options);
  return config;
}

TEST(LayerOptions, ANormWithoutBiasIsTheNormWithABiasOfZero) {
  ParameterSet with_bias, without;
  const Norm plain(with_bias, "norm", small_config());
  const Norm bare(without, "norm", with([](LayerOptions& options) { options.biases = Biases::kNone; }));
  EXPECT_EQ(without.parameters().size(), 1U);
  for (ParameterSet* set : {&with_bias, &without}) {
    set->allocate(DType::kFloat64);
    set->initialize(1);
  }
  const Tensor x = random_tensor({4, 6});
  EXPECT_TRUE(close(bare.forward(Variable(x)).value(), plain.forward(Variable(x)).value(), 1e-14));
}

TEST(LayerOptions, RmsNormDividesByTheRootOfTheMeanSquare) {
  ParameterSet parameters;
  const Norm norm(parameters, "norm", with([](LayerOptions& options) { options.norm = kernels::NormKind::kRms; }));
  randomise(parameters);
  const Tensor x = random_tensor({3, 6});
  Matrix expected = matrix_of(x);
  const std::vector<double> gain = parameters.find("norm.gain").variable.value().to_vector<double>();
  for (std::vector<double>& row : expected) {
    double squares = 0;
    for (const double value : row) {
      squares += value * value / 6;
    }
    for (size_t c = 0; c < row.size(); ++c) {
      row[c] *= gain[c] / std::sqrt(squares + static_cast<double>(small_config().layer_norm_epsilon));
    }
  }
  EXPECT_TRUE(close(norm.forward(Variable(x)).value(), tensor_of(expected), 1e-12));
}

TEST(LayerOptions, AGatedFeedForwardMultipliesTheActiveGateAndTheOther) {
  ParameterSet parameters;
  const FeedForward layer(parameters, "ffn",
                          with([](LayerOptions& options) { options.feed_forward = FeedForwardKind::kGated; }));
  randomise(parameters);
  const Tensor x = random_tensor({4, 6});
  const Formulas formulas(parameters);
  const Matrix gate = formulas.linear("ffn.gate", matrix_of(x));
  Matrix hidden = formulas.linear("ffn.inner", matrix_of(x));
  for (size_t n = 0; n < hidden.size(); ++n) {
    for (size_t c = 0; c < hidden[n].size(); ++c) {
      hidden[n][c] *= std::max(0.0, gate[n][c]);
    }
  }
  EXPECT_TRUE(close(layer.forward(Variable(x), {}).value(), tensor_of(formulas.linear("ffn.outer", hidden)), 1e-13));
}

// Everything at once, dropout too.
TEST(LayerOptions, BackwardMatchesCentralDifferences) {
  LayerConfig config = dropout_config(NormOrder::kPre);
  config.n_heads = 4;
  config.activation = kernels::Activation::kSilu;
  config.options = {.norm = kernels::NormKind::kRms,
                    .feed_forward = FeedForwardKind::kGated,
                    .biases = Biases::kAttentionInput,
                    .n_kv_heads = 2,
                    .d_head = 4,
                    .d_key = 2,
                    .qk_norm = true,
                    .window = 2};
  config = with_rotation(config, {PositionKind::kRotary, 8});
  ParameterSet parameters;
  const EncoderLayer layer(parameters, "layer", config);
  randomise(parameters);
  const RaggedRows rows = rows_of({3, 2});
  check_layer_gradients(parameters,
                        [&](const auto& inputs) {
                          RaggedKeyValues causal(rows, Attend::kCausal);
                          return layer.forward(inputs[0], causal, training_context());
                        },
                        {random_tensor({5, 6})});
}

// Copies the columns of each shared head to all heads of its group.
void repeat_heads(const ParameterSet& shared, ParameterSet& own, const std::string& name, int64_t d_head, int group) {
  const Tensor from = shared.find(name).variable.value();
  Tensor to = own.find(name).variable.value();
  const int64_t rows = from.shape().rank() == 2 ? from.dim(0) : 1, width = to.size() / rows;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      const int64_t head = column / d_head / group;
      to.data<double>()[row * width + column] =
          from.data<double>()[row * (width / group) + head * d_head + column % d_head];
    }
  }
}

TEST(LayerOptions, SharedKeyValueHeadsAreHeadsThatAreEqual) {
  LayerConfig config = small_config();
  config.n_heads = 6;
  config.options.d_head = 2;
  ParameterSet own, shared;
  const MultiHeadAttention each(own, "part", config);
  config.options.n_kv_heads = 2;
  const MultiHeadAttention grouped(shared, "part", config);
  randomise(shared);
  randomise(own);
  for (const char* same : {"part.query.weight", "part.query.bias", "part.output.weight", "part.output.bias"}) {
    Tensor value = own.find(same).variable.value();
    value.copy_from(shared.find(same).variable.value());
  }
  for (const char* name : {"part.key.weight", "part.key.bias", "part.value.weight", "part.value.bias"}) {
    repeat_heads(shared, own, name, 2, 3);
  }
  const Tensor x = random_tensor({5, 6});
  RaggedKeyValues rows(rows_of({3, 2}), Attend::kCausal);
  EXPECT_TRUE(
      close(grouped.forward(Variable(x), rows, {}).value(), each.forward(Variable(x), rows, {}).value(), 1e-13));
}

// Writes the columns of narrow heads into wide ones, times a factor; the other columns become zeros.
void widen(const ParameterSet& narrow, ParameterSet& wide, const std::string& name, int64_t d_key, double factor) {
  const Tensor from = narrow.find(name).variable.value();
  Tensor to = wide.find(name).variable.value();
  const int64_t rows = from.shape().rank() == 2 ? from.dim(0) : 1, width = from.size() / rows;
  const int64_t d_head = to.size() / rows * d_key / width;
  to.fill(0);
  for (int64_t i = 0; i < from.size(); ++i) {
    const int64_t row = i / width, head = i % width / d_key;
    to.data<double>()[(row * (width / d_key) + head) * d_head + i % d_key] = factor * from.data<double>()[i];
  }
}

// Rows B of table 3 of the paper.
TEST(LayerOptions, NarrowKeysAreKeysWhoseOtherColumnsAreZero) {
  LayerConfig config = small_config();  // two heads of three columns
  ParameterSet narrow, wide;
  const MultiHeadAttention whole(wide, "part", config);
  config.options.d_key = 2;
  const MultiHeadAttention less(narrow, "part", config);
  EXPECT_EQ(narrow.find("part.query.weight").shape, tensor::Shape({6, 4}));
  EXPECT_EQ(narrow.find("part.value.weight").shape, tensor::Shape({6, 6}));
  randomise(narrow);
  randomise(wide);
  for (const char* kind : {"value", "output"}) {
    for (const char* part : {"weight", "bias"}) {
      const std::string name = fmt::format("part.{}.{}", kind, part);
      Tensor value = wide.find(name).variable.value();
      value.copy_from(narrow.find(name).variable.value());
    }
  }
  for (const char* part : {"weight", "bias"}) {
    widen(narrow, wide, std::string("part.query.") + part, 2, std::sqrt(3.0 / 2.0));  // divided by sqrt(3), not sqrt(2)
    widen(narrow, wide, std::string("part.key.") + part, 2, 1.0);
  }
  const Tensor x = random_tensor({5, 6});
  RaggedKeyValues rows(rows_of({3, 2}), Attend::kCausal);
  EXPECT_TRUE(close(less.forward(Variable(x), rows, {}).value(), whole.forward(Variable(x), rows, {}).value(), 1e-6));
  RaggedKeyValues crossing(rows_of({3, 2}), rows_of({1, 4}), Variable(random_tensor({5, 6}, DType::kFloat64, 9)));
  EXPECT_TRUE(
      close(less.forward(Variable(x), crossing, {}).value(), whole.forward(Variable(x), crossing, {}).value(), 1e-6));
}

TEST(LayerOptions, KeysAreAtMostAsWideAsTheirHead) {
  LayerConfig config = small_config();
  config.options.d_key = 4;
  EXPECT_EQ(test_support::error_of([&] { check_key_width(config, PositionKind::kNone); }),
            "d_key is 4, must be at most the width of a head, 3");
  config.options.d_key = 1;
  EXPECT_EQ(test_support::error_of([&] { check_key_width(config, PositionKind::kRotary); }),
            "d_key is 1, must be even for rotary positions");
}

// With rotary positions and equal rows, what a row attends to depends on distances alone.
TEST(LayerOptions, RotaryScoresDependOnDistancesAlone) {
  LayerConfig two = small_config();
  two.d_model = 8;
  two.n_heads = 2;
  two = with_rotation(two, {PositionKind::kRotary, 64});
  ParameterSet parameters;
  const MultiHeadAttention attention(parameters, "part", two);
  randomise(parameters);
  const Tensor x = random_tensor({6, 8});
  RaggedRows early = rows_of({6}), late = rows_of({6});
  for (int32_t& position : late.positions.span<int32_t>()) {
    position += 37;
  }
  RaggedKeyValues first(early, Attend::kWholeSentence), second(late, Attend::kWholeSentence);
  EXPECT_TRUE(close(attention.forward(Variable(x), first, {}).value(),
                    attention.forward(Variable(x), second, {}).value(), 1e-5));
}

TEST(LayerOptions, AWindowAsLongAsTheSentenceChangesNothingAndOneOfOneSeesItselfAlone) {
  ParameterSet parameters, copies;
  const MultiHeadAttention whole(parameters, "part", small_config());
  randomise(parameters);
  const Tensor x = random_tensor({5, 6});
  RaggedKeyValues causal(rows_of({5}), Attend::kCausal);
  const Tensor expected = whole.forward(Variable(x), causal, {}).value();
  for (const int64_t window : {5, 1}) {
    LayerConfig config = small_config();
    config.options.window = window;
    ParameterSet others;
    const MultiHeadAttention limited(others, "part", config);
    others.share_values(parameters);
    const Tensor seen = limited.forward(Variable(x), causal, {}).value();
    EXPECT_EQ(close(seen, expected, 1e-13), window == 5);
    EXPECT_TRUE(close(seen.rows(0, 1), expected.rows(0, 1), 1e-13));
    if (window == 1) {
      RaggedKeyValues alone(rows_of({1}), Attend::kCausal);
      EXPECT_TRUE(close(seen.rows(3, 4), whole.forward(Variable(x.rows(3, 4)), alone, {}).value(), 1e-13));
    }
  }
}

TEST(LayerOptions, WeightsBeginAsInGpt2) {
  LayerConfig config = small_config();
  config.d_model = 64;
  config.d_ff = 256;
  config.residual_maps = 8;
  config.options.initial_weights = InitialWeights::kGpt2;
  ParameterSet parameters;
  const FeedForward layer(parameters, "ffn", config);
  parameters.allocate();
  parameters.initialize(1);
  const auto deviation = [&](const char* path) {
    double squares = 0;
    const std::vector<float> values = parameters.find(path).variable.value().to_vector<float>();
    for (const float value : values) {
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    return std::sqrt(squares / static_cast<double>(values.size()));
  };
  EXPECT_NEAR(deviation("ffn.inner.weight"), 0.02, 0.001);
  EXPECT_NEAR(deviation("ffn.outer.weight"), 0.02 / std::sqrt(8.0), 0.0004);
}

}  // namespace
}  // namespace dragoman::nn
