#include "nn/decoder_layer.h"

#include <gtest/gtest.h>

#include "autograd/recompute.h"
#include "formulas.h"
#include "ops/attention.h"
#include "small_layers.h"

namespace dragoman::nn {
namespace {

struct Decoder {
  explicit Decoder(const LayerConfig& config, DType dtype = DType::kFloat64) : layer(parameters, "layer", config) {
    randomise(parameters, dtype);
  }

  Variable forward(const Variable& x, const RaggedRows& rows, const Variable& source, const RaggedRows& source_rows,
                   const ForwardContext& context = {}) const {
    RaggedKeyValues self(rows, Attend::kCausal), cross(rows, source_rows, source);
    return layer.forward(x, self, cross, context.over(rows));
  }

  ParameterSet parameters;
  DecoderLayer layer;
};

// One sentence.
Matrix decoded(const Formulas& formulas, const Matrix& x, const Matrix& source, NormOrder order) {
  const std::vector<std::pair<std::string, std::function<Matrix(const Matrix&)>>> sublayers = {
      {"layer.self_attention",
       [&](const Matrix& h) { return formulas.attention("layer.self_attention", h, h, 2, true); }},
      {"layer.cross_attention",
       [&](const Matrix& h) { return formulas.attention("layer.cross_attention", h, source, 2, false); }},
      {"layer.feed_forward", [&](const Matrix& h) { return formulas.feed_forward("layer.feed_forward", h); }}};
  Matrix h = x;
  for (const auto& [path, sublayer] : sublayers) {
    if (order == NormOrder::kPost) {
      h = formulas.layer_norm(path + ".norm", add(h, sublayer(h)), 1e-5F);
    } else {
      h = add(h, sublayer(formulas.layer_norm(path + ".norm", h, 1e-5F)));
    }
  }
  return h;
}

TEST(DecoderLayer, IsTheFormulaWithinEachSentence) {
  for (const NormOrder order : kNormOrders) {
    const Decoder model(small_config(order));
    const Formulas formulas(model.parameters);
    const Tensor x = random_tensor({5, 6}), source = random_tensor({7, 6}, DType::kFloat64, 2);
    const Tensor y = model.forward(Variable(x), rows_of({2, 3}), Variable(source), rows_of({4, 3})).value();
    EXPECT_TRUE(close(y.rows(0, 2),
                      tensor_of(decoded(formulas, matrix_of(x.rows(0, 2)), matrix_of(source.rows(0, 4)), order)),
                      1e-12));
    EXPECT_TRUE(close(y.rows(2, 5),
                      tensor_of(decoded(formulas, matrix_of(x.rows(2, 5)), matrix_of(source.rows(4, 7)), order)),
                      1e-12));
  }
}

TEST(DecoderLayer, BackwardMatchesCentralDifferences) {
  for (const NormOrder order : kNormOrders) {
    for (const LayerConfig& config : {small_config(order), dropout_config(order)}) {
      const Decoder model(config);
      check_layer_gradients(
          model.parameters,
          [&](const auto& inputs) {
            return model.forward(inputs[0], rows_of({2, 3}, 5), inputs[1], rows_of({4, 3}), training_context());
          },
          {random_tensor({5, 6}), random_tensor({7, 6}, DType::kFloat64, 2)});
    }
  }
}

TEST(DecoderLayer, AShardIsTheSameRowsOfTheWhole) {
  for (const NormOrder order : kNormOrders) {
    const Decoder model(dropout_config(order), DType::kFloat32);
    const Tensor x = random_tensor({5, 6}, DType::kFloat32), source = random_tensor({7, 6}, DType::kFloat32, 2);
    const Tensor whole =
        model.forward(Variable(x), rows_of({2, 3}, 100), Variable(source), rows_of({4, 3}), training_context()).value();
    EXPECT_TRUE(same_bits(model
                              .forward(Variable(x.rows(2, 5)), rows_of({3}, 102), Variable(source.rows(4, 7)),
                                       rows_of({3}), training_context())
                              .value(),
                          whole.rows(2, 5)));
  }
}

// Keeps the keys and values of one sentence and adds those of each new row, as a cache does.
class GrowingKeyValues : public KeyValueSource {
 public:
  Variable attend(const Variable& input, const MultiHeadAttention& attention, const ForwardContext&) override {
    const auto [query, key, value] = attention.project_all(input, {});
    append(keys_, key.value());
    append(values_, value.value());
    const int32_t length = static_cast<int32_t>(keys_.size());
    return ops::attention(
        query, Variable(tensor_of(keys_)), Variable(tensor_of(values_)),
        {Tensor::from(std::vector<int32_t>{0, 1}, {2}), Tensor::from(std::vector<int32_t>{0, length}, {2}), {}},
        {attention.n_heads(), false, {}});
  }

 private:
  static void append(Matrix& rows, const Tensor& row) { rows.push_back(matrix_of(row)[0]); }

  Matrix keys_, values_;
};

TEST(DecoderLayer, RowAfterRowFromACacheEqualsTheWholeSentence) {
  for (const NormOrder order : kNormOrders) {
    const Decoder model(small_config(order));
    const Tensor x = random_tensor({5, 6});
    const Variable source(random_tensor({4, 6}, DType::kFloat64, 2));
    const Tensor whole = model.forward(Variable(x), rows_of({5}), source, rows_of({4})).value();
    GrowingKeyValues self;
    for (int64_t row = 0; row < 5; ++row) {
      RaggedKeyValues cross(rows_of({1}), rows_of({4}), source);
      const Tensor step = model.layer.forward(Variable(x.rows(row, row + 1)), self, cross, {}).value();
      EXPECT_TRUE(close(step, whole.rows(row, row + 1), 1e-14)) << "row " << row;
    }
  }
}

// Output and gradients, one after the other.
std::vector<Tensor> trained(bool recomputed) {
  Decoder model(dropout_config(), DType::kFloat32);
  model.parameters.allocate_gradients();
  const Variable x(random_tensor({5, 6}, DType::kFloat32), true);
  const Variable source(random_tensor({7, 6}, DType::kFloat32, 2), true);
  autograd::Tape tape;
  const autograd::TapeScope scope(&tape);
  const auto part = [&] { return model.forward(x, rows_of({2, 3}, 5), source, rows_of({4, 3}), training_context()); };
  const Variable y = recomputed ? autograd::recompute("layer", part) : part();
  tape.backward_from(y, random_tensor({5, 6}, DType::kFloat32, 4));
  return {y.value(), x.grad(), source.grad(), model.parameters.gradients()};
}

TEST(DecoderLayer, ComputedAgainInTheBackwardItDropsTheSameElements) {
  const std::vector<Tensor> kept = trained(false), again = trained(true);
  for (size_t index = 0; index < kept.size(); ++index) {
    EXPECT_TRUE(same_bits(again[index], kept[index])) << index;
  }
}

}  // namespace
}  // namespace dragoman::nn
