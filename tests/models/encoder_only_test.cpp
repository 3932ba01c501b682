// Laws of an encoder without a decoder, for each head.
#include "models/encoder_only/encoder_only.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "ops/linear_cross_entropy.h"
#include "support/model_gradients.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

using Ids = std::vector<int32_t>;

EncoderOnlyConfig words() {
  EncoderOnlyConfig config;
  config.vocab_size = 37;
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 24;
  config.n_heads = 4;
  config.max_positions = 24;
  config.pooler = Pooler::kNone;
  return config;
}

EncoderOnlyConfig classes() {
  EncoderOnlyConfig config = words();
  config.head = EncoderHead::kClasses;
  config.n_labels = 3;
  config.pooler = Pooler::kTanh;
  return config;
}

EncoderOnlyConfig tags() {
  EncoderOnlyConfig config = words();
  config.head = EncoderHead::kTags;
  config.n_labels = 5;
  config.pooler = Pooler::kNone;
  config.segments = 0;
  config.norm_order = nn::NormOrder::kPre;
  config.positions = nn::PositionKind::kRotary;
  config.embedding_norm = false;
  config.layer.norm = kernels::NormKind::kRms;
  config.layer.biases = nn::Biases::kNone;
  config.layer.feed_forward = nn::FeedForwardKind::kGated;
  return config;
}

TokenRows rows_of(const std::vector<Ids>& texts) {
  FlatIds flat;
  for (const Ids& text : texts) {
    flat.append(text);
    flat.end_sentence();
  }
  return make_token_rows(flat);
}

ModelInput input_of(const TokenRows& rows) {
  ModelInput input;
  input.source = rows;
  return input;
}

Ids random_text(size_t length, uint64_t seed) {
  base::Random random(seed);
  Ids ids(length);
  for (int32_t& id : ids) {
    id = static_cast<int32_t>(random.below(37));
  }
  return ids;
}

struct Shape {
  const char* name;
  EncoderOnlyConfig (*config)();
};

class EncoderOnlyLaws : public testing::TestWithParam<Shape> {
 protected:
  EncoderOnlyLaws() : model_(GetParam().config()) {
    model_.parameters().allocate();
    model_.parameters().initialize(1);
    for (float& value : model_.parameters().mutable_values().span<float>()) {
      value *= 4.0F;  // sharper than fresh weights
    }
    model_.parameters().pack_weights();
  }

  std::vector<float> logits(const std::vector<Ids>& texts) const {
    const autograd::NoGrad inference;
    return model_.output().logits(model_.forward(input_of(rows_of(texts)), {})).value().to_vector<float>();
  }
  std::vector<float> hidden(const Ids& text) const {
    const autograd::NoGrad inference;
    return model_.encode(rows_of({text}), {}).value().to_vector<float>();
  }

  EncoderOnly model_;
};
INSTANTIATE_TEST_SUITE_P(Heads, EncoderOnlyLaws,
                         testing::Values(Shape{"Words", words}, Shape{"Classes", classes}, Shape{"Tags", tags}),
                         [](const auto& shape) { return shape.param.name; });

TEST_P(EncoderOnlyLaws, ATextAloneHasTheBitsThatItHasInABatch) {
  const std::vector<Ids> texts = {random_text(3, 4), random_text(1, 5), random_text(11, 6), random_text(24, 7)};
  std::vector<float> alone;
  for (const Ids& text : texts) {
    const std::vector<float> of_text = logits({text});
    alone.insert(alone.end(), of_text.begin(), of_text.end());
  }
  EXPECT_EQ(logits(texts), alone);
}

TEST_P(EncoderOnlyLaws, EveryTokenSeesEveryOther) {
  Ids text = random_text(6, 8);
  const std::vector<float> before = hidden(text);
  text.back() = text.back() == 5 ? 6 : 5;
  const std::vector<float> after = hidden(text);
  for (size_t row = 0; row < 6; ++row) {
    const auto at = static_cast<std::ptrdiff_t>(row * 16);
    EXPECT_FALSE(std::equal(before.begin() + at, before.begin() + at + 16, after.begin() + at)) << row;
  }
}

TEST_P(EncoderOnlyLaws, GradientsMatchCentralDifferences) {
  EncoderOnlyConfig config = GetParam().config();
  config.layers = 1;
  config.d_model = 8;
  config.d_ff = 6;
  config.n_heads = 2;
  config.vocab_size = 7;
  config.dropout = config.attention_dropout = config.activation_dropout = 0.2F;
  EncoderOnly model(config);
  model.parameters().allocate(tensor::DType::kFloat64);
  model.parameters().initialize(3);
  model.parameters().allocate_gradients();
  TokenRows rows = rows_of({{1, 5, 2, 6, 0}, {3, 3, 4}});
  rows.segments = tensor::host_tensor(Ids{0, 0, 0, 1, 1, 0, 1, 1});
  const bool by_text = config.head == EncoderHead::kClasses;
  const Tensor expected = by_text ? tensor::host_tensor(Ids{2, 0}) : tensor::host_tensor(Ids{1, 2, 0, 0, 1, 3, 4, 2});
  const auto loss_of = [&] {
    const Variable hidden = model.forward(input_of(rows), {.training = true, .seed = 1, .step = 1});
    return ops::linear_cross_entropy(hidden, model.output().weight, model.output().bias, expected, {0.1F, 0.25}).loss;
  };
  test_support::expect_gradients_match(model.parameters(), loss_of, 4,
                                       [](double numeric) { return 1e-5 * std::max(1.0, std::abs(numeric)); });
}

TEST_P(EncoderOnlyLaws, ChosenRowsArePredictedAsAmongAll) {
  if (model_.encoder_config().head == EncoderHead::kClasses) {
    return;  // a text has one row there
  }
  const autograd::NoGrad inference;
  TokenRows rows = rows_of({random_text(5, 4), random_text(3, 5)});
  const Tensor all = model_.output().logits(model_.forward(input_of(rows), {})).value();
  const Ids chosen = rows_of_all(Ids{1, 4, 0, 2}, Ids{0, 2, 4}, Ids{0, 5, 8});
  EXPECT_EQ(chosen, (Ids{1, 4, 5, 7}));
  rows.chosen = tensor::host_tensor(chosen);
  const std::vector<float> seen = model_.output().logits(model_.forward(input_of(rows), {})).value().to_vector<float>();
  std::vector<float> expected;
  for (const int32_t row : chosen) {
    const std::span<const float> of_row =
        all.span<float>().subspan(static_cast<size_t>(row * all.dim(1)), static_cast<size_t>(all.dim(1)));
    expected.insert(expected.end(), of_row.begin(), of_row.end());
  }
  EXPECT_EQ(seen, expected);
}

TEST(EncoderOnly, SegmentsBelongToTheSecondText) {
  EXPECT_EQ(segments_of(Ids{2, 0, 1}, Ids{0, 4, 6, 8}), (Ids{0, 0, 1, 1, 0, 0, 0, 1}));
}

TEST(EncoderOnly, SegmentsAreZeroUnlessGiven) {
  EncoderOnly model(words());
  model.parameters().allocate();
  model.parameters().initialize(1);
  const autograd::NoGrad inference;
  TokenRows rows = rows_of({random_text(4, 1)});
  const std::vector<float> without = model.encode(rows, {}).value().to_vector<float>();
  rows.segments = tensor::host_tensor(Ids{0, 0, 0, 0});
  EXPECT_EQ(model.encode(rows, {}).value().to_vector<float>(), without);
  rows.segments = tensor::host_tensor(Ids{0, 0, 1, 1});
  EXPECT_NE(model.encode(rows, {}).value().to_vector<float>(), without);
}

TEST(EncoderOnly, WithOneKindOfTextsSegmentsCountForNothing) {  // as RoBERTa
  EncoderOnlyConfig config = words();
  config.segments = 1;
  EncoderOnly model(config);
  model.parameters().allocate();
  model.parameters().initialize(1);
  const autograd::NoGrad inference;
  TokenRows rows = rows_of({random_text(4, 1)});
  const std::vector<float> without = model.encode(rows, {}).value().to_vector<float>();
  rows.segments = tensor::host_tensor(Ids{0, 0, 1, 1});
  EXPECT_EQ(model.encode(rows, {}).value().to_vector<float>(), without);
}

TEST(EncoderOnly, WithoutAHeadItPredictsNothing) {
  EncoderOnlyConfig config = words();
  config.head = EncoderHead::kNone;
  EncoderOnly model(config);
  model.parameters().allocate();
  EXPECT_THROW(static_cast<void>(model.output()), base::Error);
  EXPECT_EQ(model.begin_generation(), nullptr);
}

TEST(EncoderOnly, WithoutAHeadItGivesTheVectorsOfTexts) {
  for (const Pooling pooling : {Pooling::kMean, Pooling::kFirst}) {
    EncoderOnlyConfig config = words();
    config.head = EncoderHead::kNone;
    config.pooling = pooling;
    EncoderOnly model(config);
    model.parameters().allocate();
    model.parameters().initialize(1);
    const autograd::NoGrad inference;
    const TokenRows rows = rows_of({{1, 5, 7}, {2}});
    const std::vector<float> vectors = model.forward(input_of(rows), {}).value().to_vector<float>();  // [2, D]
    const std::vector<float> hidden = model.encode(rows, {}).value().to_vector<float>();              // [4, D]
    const auto width = static_cast<size_t>(config.d_model);
    ASSERT_EQ(vectors.size(), 2 * width);
    for (size_t c = 0; c < width; ++c) {
      const float mean = (hidden[c] + hidden[width + c] + hidden[2 * width + c]) / 3.0F;
      EXPECT_NEAR(vectors[c], pooling == Pooling::kMean ? mean : hidden[c], 1e-6F);
      EXPECT_EQ(vectors[width + c], hidden[3 * width + c]) << "a text of one row";
    }
  }
}

TEST(EncoderOnlyConfigText, GoesThereAndBack) {
  for (const EncoderOnlyConfig& config : {words(), classes(), tags()}) {
    const std::string text = to_json(config);
    EXPECT_EQ(to_json(encoder_only_config_from_json(text, "config.json")), text);
  }
}

TEST(EncoderOnlyConfigText, WhatIsWrongIsNamed) {
  const auto error_of = [](EncoderOnlyConfig config) -> std::string {
    try {
      config.check();
    } catch (const base::Error& error) {
      return error.what();
    }
    return "";
  };
  EncoderOnlyConfig config = classes();
  config.pooler = Pooler::kNone;
  EXPECT_EQ(error_of(config), "head is classes and class_pooling is pooler, so pooler must not be none");
  config.class_pooling = Pooling::kMean;
  EXPECT_EQ(error_of(config), "") << "without a pooler the classes follow from the mean";
  config = classes();
  config.n_labels = 0;
  EXPECT_EQ(error_of(config), "n_labels is 0, head is classes: labels belong to classes and tags");
  config = tags();
  config.pooling = Pooling::kPooler;
  EXPECT_EQ(error_of(config), "pooling is pooler, so pooler must not be none");
  config = words();
  config.layer.window = 4;
  EXPECT_THAT(error_of(config), testing::HasSubstr("window is 4"));
}

}  // namespace
}  // namespace dragoman::models
