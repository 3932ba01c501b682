#include "nn/token_embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "formulas.h"
#include "small_layers.h"

namespace dragoman::nn {
namespace {

constexpr int64_t kWords = 9;
constexpr PositionKind kKinds[] = {PositionKind::kSinusoidal, PositionKind::kLearned};

struct Embedding {
  explicit Embedding(const LayerConfig& config, PositionKind kind, float word_dropout = 0,
                     DType dtype = DType::kFloat64)
      : table(parameters.declare_weight("table", {kWords, config.d_model}, Initializer::kNormalEmbedding,
                                        kernels::Transpose::kYes)),
        layer(parameters, "embedding", table, config, {kind, 12}, word_dropout) {
    randomise(parameters, dtype);
  }

  ParameterSet parameters;
  ParameterHandle table;
  TokenEmbedding layer;
};

// Two sentences with words in common.
Tensor ids() {
  return Tensor::from(std::vector<int32_t>{4, 2, 4, 8, 0, 2, 1}, {7});
}

RaggedRows rows(int64_t first_row = 0) {
  return rows_of({3, 4}, first_row);
}

double position_value(int32_t position, size_t column) {
  const double angle = position / std::pow(10000.0, static_cast<double>(column / 2 * 2) / 6);
  return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

TEST(TokenEmbedding, IsTheWordTimesTheRootOfTheWidthPlusThePosition) {
  for (const PositionKind kind : kKinds) {
    const Embedding model(small_config(), kind);
    const Matrix words = matrix_of(model.table->variable.value());
    const std::vector<int32_t> word_ids = ids().to_vector<int32_t>(), positions = rows().positions.to_vector<int32_t>();
    Matrix expected;
    for (size_t n = 0; n < word_ids.size(); ++n) {
      expected.push_back(words[static_cast<size_t>(word_ids[n])]);
      for (size_t c = 0; c < 6; ++c) {
        const double place = kind == PositionKind::kSinusoidal
                                 ? position_value(positions[n], c)
                                 : matrix_of(model.parameters.find("embedding.positions")
                                                 .variable.value())[static_cast<size_t>(positions[n])][c];
        expected[n][c] = expected[n][c] * std::sqrt(6.0) + place;
      }
    }
    EXPECT_TRUE(close(model.layer.forward(ids(), rows(), {}).value(), tensor_of(expected), 1e-7))
        << "the root and sinusoids are float32";
  }
}

TEST(TokenEmbedding, BackwardMatchesCentralDifferences) {
  for (const PositionKind kind : kKinds) {
    for (const LayerConfig& config : {small_config(), dropout_config()}) {
      const Embedding model(config, kind, config.dropout);
      check_layer_gradients(model.parameters,
                            [&](const auto&) { return model.layer.forward(ids(), rows(5), training_context()); }, {});
    }
  }
}

TEST(TokenEmbedding, DropoutOfAShardIsThatOfTheSameRowsOfTheWhole) {
  const Embedding model(dropout_config(), PositionKind::kLearned, 0.3F, DType::kFloat32);
  const Tensor whole = model.layer.forward(ids(), rows(100), training_context()).value();
  const Tensor shard_ids = ids().rows(3, 7);
  EXPECT_TRUE(
      same_bits(model.layer.forward(shard_ids, rows_of({4}, 103), training_context()).value(), whole.rows(3, 7)));
  EXPECT_FALSE(
      same_bits(model.layer.forward(shard_ids, rows_of({4}, 100), training_context()).value(), whole.rows(3, 7)));
}

TEST(TokenEmbedding, ADroppedWordLeavesItsPosition) {
  const Embedding model(small_config(), PositionKind::kLearned, 0.5F);
  const std::vector<int32_t> word(200, 3);
  const RaggedRows alone = rows_of(std::vector<int32_t>(200, 1));
  const Matrix seen = matrix_of(model.layer.forward(Tensor::from(word, {200}), alone, training_context()).value());
  const Matrix positions = matrix_of(model.parameters.find("embedding.positions").variable.value());
  const auto dropped = std::ranges::count(seen, positions[0]);
  EXPECT_GT(dropped, 60);
  EXPECT_LT(dropped, 140) << "half of 200";
}

TEST(TokenEmbedding, ACutWordLeavesItsPositionAndTheOthersKeepTheirSize) {
  const Embedding model(small_config(), PositionKind::kLearned);
  const std::vector<int32_t> word(200, 3);
  const RaggedRows alone = rows_of(std::vector<int32_t>(200, 1));
  const auto forward = [&](float word_cut) {
    ForwardContext context{.training = true, .seed = 5, .step = 1, .word_cut = word_cut};
    return matrix_of(model.layer.forward(Tensor::from(word, {200}), alone, context).value());
  };
  const Matrix whole = forward(0.0F), seen = forward(0.25F);
  const Matrix positions = matrix_of(model.parameters.find("embedding.positions").variable.value());
  int64_t cut = 0;
  for (const std::vector<double>& row : seen) {
    cut += row == positions[0] ? 1 : 0;
    if (row != positions[0]) {
      EXPECT_TRUE(close(tensor_of({row}), tensor_of({whole[0]}), 1e-7));
    }
  }
  EXPECT_GT(cut, 30);
  EXPECT_LT(cut, 70) << "a quarter of 200";
  const ForwardContext translating{.word_cut = 0.25F};
  EXPECT_EQ(matrix_of(model.layer.forward(Tensor::from(word, {200}), alone, translating).value()),
            matrix_of(model.layer.forward(Tensor::from(word, {200}), alone, {}).value()))
      << "only training cuts";
}

}  // namespace
}  // namespace dragoman::nn
