#include "nn/multi_head_attention.h"

#include <gtest/gtest.h>

#include "formulas.h"
#include "small_layers.h"
#include "support/error_of.h"

namespace dragoman::nn {
namespace {

struct Attention {
  explicit Attention(const LayerConfig& config, DType dtype = DType::kFloat64) : layer(parameters, "part", config) {
    randomise(parameters, dtype);
  }

  Variable self(const Variable& x, const RaggedRows& rows, Attend attend, const ForwardContext& context = {}) const {
    RaggedKeyValues key_values(rows, attend);
    return layer.forward(x, key_values, context);
  }

  Variable cross(const Variable& x, const RaggedRows& rows, const Variable& source, const RaggedRows& source_rows,
                 const ForwardContext& context = {}) const {
    RaggedKeyValues key_values(rows, source_rows, source);
    return layer.forward(x, key_values, context);
  }

  ParameterSet parameters;
  MultiHeadAttention layer;
};

// The formula for each sentence by itself, one below the other.
Tensor by_sentence(const std::vector<int32_t>& lengths, const std::vector<int32_t>& source_lengths, const Tensor& x,
                   const Tensor& source, const std::function<Matrix(const Matrix&, const Matrix&)>& attention) {
  Matrix all;
  int64_t row = 0, source_row = 0;
  for (size_t sentence = 0; sentence < lengths.size(); ++sentence) {
    const int64_t end = row + lengths[sentence], source_end = source_row + source_lengths[sentence];
    const Matrix part = attention(matrix_of(x.rows(row, end)), matrix_of(source.rows(source_row, source_end)));
    all.insert(all.end(), part.begin(), part.end());
    row = end, source_row = source_end;
  }
  return tensor_of(all);
}

TEST(MultiHeadAttention, SelfAttentionIsTheFormulaWithinEachSentence) {
  const Attention model(small_config());
  const Formulas formulas(model.parameters);
  const Tensor x = random_tensor({6, 6});
  for (const Attend attend : {Attend::kWholeSentence, Attend::kCausal}) {
    const Tensor expected = by_sentence({2, 4}, {2, 4}, x, x, [&](const Matrix& part, const Matrix& memory) {
      return formulas.attention("part", part, memory, 2, attend == Attend::kCausal);
    });
    EXPECT_TRUE(close(model.self(Variable(x), rows_of({2, 4}), attend).value(), expected, 1e-13));
  }
}

TEST(MultiHeadAttention, CrossAttentionIsTheFormulaWithTheRowsOfTheSameSentence) {
  const Attention model(small_config());
  const Formulas formulas(model.parameters);
  const Tensor x = random_tensor({5, 6}), source = random_tensor({7, 6}, DType::kFloat64, 2);
  const Tensor expected = by_sentence({2, 3}, {4, 3}, x, source, [&](const Matrix& part, const Matrix& memory) {
    return formulas.attention("part", part, memory, 2, false);
  });
  EXPECT_TRUE(
      close(model.cross(Variable(x), rows_of({2, 3}), Variable(source), rows_of({4, 3})).value(), expected, 1e-13));
}

TEST(MultiHeadAttention, BackwardMatchesCentralDifferences) {
  for (const LayerConfig& config : {small_config(), dropout_config()}) {
    const Attention model(config);
    for (const Attend attend : {Attend::kWholeSentence, Attend::kCausal}) {
      check_layer_gradients(model.parameters,
                            [&](const auto& inputs) {
                              return model.self(inputs[0], rows_of({2, 4}, 5), attend, training_context());
                            },
                            {random_tensor({6, 6})});
    }
    check_layer_gradients(
        model.parameters,
        [&](const auto& inputs) {
          return model.cross(inputs[0], rows_of({2, 3}, 5), inputs[1], rows_of({4, 3}), training_context());
        },
        {random_tensor({5, 6}), random_tensor({7, 6}, DType::kFloat64, 2)});
  }
}

TEST(MultiHeadAttention, DropoutOfAShardIsThatOfTheSameRowsOfTheWhole) {
  const Attention model(dropout_config(), DType::kFloat32);
  const Tensor x = random_tensor({6, 6}, DType::kFloat32);
  const Tensor whole = model.self(Variable(x), rows_of({2, 4}, 100), Attend::kCausal, training_context()).value();
  const Variable shard(x.rows(2, 6));
  EXPECT_TRUE(
      same_bits(model.self(shard, rows_of({4}, 102), Attend::kCausal, training_context()).value(), whole.rows(2, 6)));
  EXPECT_FALSE(
      same_bits(model.self(shard, rows_of({4}, 100), Attend::kCausal, training_context()).value(), whole.rows(2, 6)));
}

TEST(MultiHeadAttention, ProjectionsOfOneInputTogetherAreThoseOneByOne) {
  const Attention model(small_config(), DType::kFloat32);
  const Variable x(random_tensor({6, 6}, DType::kFloat32));
  const auto [queries, keys, values] = model.layer.project_all(x, {});
  EXPECT_TRUE(same_bits(queries.value(), model.layer.project_query(x).value()));
  EXPECT_TRUE(same_bits(keys.value(), model.layer.project_key(x).value()));
  EXPECT_TRUE(same_bits(values.value(), model.layer.project_value(x).value()));
}

// Sums of weights, a row of a sentence each.
class Weights : public ForwardObserver {
 public:
  void observe(std::string_view path, int64_t sentence, const Tensor& weights) override {
    EXPECT_EQ(path, "part");
    EXPECT_EQ(sentence, static_cast<int64_t>(seen.size()));
    seen.push_back(weights);
  }
  std::vector<Tensor> seen;
};

TEST(MultiHeadAttention, TheObserverSeesTheWeightsOfEachSentence) {
  const Attention model(small_config(), DType::kFloat32);
  Weights weights;
  ForwardContext context;
  context.observer = &weights;
  const Variable x(random_tensor({6, 6}, DType::kFloat32));
  const Tensor observed = model.self(x, rows_of({2, 4}), Attend::kCausal, context).value();
  ASSERT_EQ(weights.seen.size(), 2U);
  const Tensor last = weights.seen[1];  // [H, T, S]
  ASSERT_EQ(last.shape(), (tensor::Shape{2, 4, 4}));
  const std::span<const float> values = std::as_const(last).span<float>();
  for (size_t row = 0; row < 8; ++row) {
    double sum = 0;
    for (size_t s = 0; s < 4; ++s) {
      const float weight = values[row * 4 + s];
      sum += weight;
      EXPECT_EQ(weight == 0.0F, s > row % 4) << "causal: row " << row << ", key " << s;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_TRUE(same_bits(observed, model.self(x, rows_of({2, 4}), Attend::kCausal).value()))
      << "looking changes nothing";
}

TEST(MultiHeadAttention, RefusesAWidthThatIsNoMultipleOfTheHeads) {
  LayerConfig config = small_config();
  config.n_heads = 4;
  ParameterSet parameters;
  EXPECT_EQ(test_support::error_of([&] { MultiHeadAttention(parameters, "part", config); }),
            "part: d_model 6 is not a multiple of n_heads 4");
}

}  // namespace
}  // namespace dragoman::nn
