// The options of the encoder-decoder that make it a T5: relative positions, no scale of the products, RMSNorm, a gate,
// no biases, logits divided by the root of the width.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/transformer/transformer.h"
#include "ops/linear_cross_entropy.h"
#include "support/error_of.h"
#include "support/model_gradients.h"
#include "support/tiny_config.h"

namespace dragoman::models {
namespace {

TransformerConfig t5_config() {
  TransformerConfig config = test_support::tiny_config(44);
  config.norm_order = nn::NormOrder::kPre;
  config.positions = nn::PositionKind::kRelative;
  config.activation = kernels::Activation::kGeluTanh;
  config.scale_output = true;
  config.layer.norm = kernels::NormKind::kRms;
  config.layer.feed_forward = nn::FeedForwardKind::kGated;
  config.layer.biases = nn::Biases::kNone;
  config.layer.scale_embedding = false;
  config.layer.scale_attention = false;
  config.layer.d_head = 6;  // heads need not divide the width
  config.layer.relative_buckets = 8;
  config.layer.relative_distance = 10;
  config.layer.initial_weights = nn::InitialWeights::kT5;
  return config;
}

std::vector<int32_t> random_ids(int32_t count, uint64_t seed) {
  base::Random random(seed);
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < count; ++i) {
    ids.push_back(4 + static_cast<int32_t>(random.below(40)));
  }
  return ids;
}

std::unique_ptr<Transformer> made(const TransformerConfig& config) {
  auto model = std::make_unique<Transformer>(config);
  model->parameters().allocate();
  model->parameters().initialize(1);
  return model;
}

Tensor logits(const Transformer& model, const std::vector<int32_t>& source, const std::vector<int32_t>& target) {
  const autograd::NoGrad inference;
  return model.output().logits(model.forward({one_sentence(source), one_sentence(target)}, {})).value();
}

TransformerConfig narrow_keys(TransformerConfig config) {
  config.layer.d_key = 2;
  return config;
}

class CachedModels : public testing::TestWithParam<TransformerConfig> {};
INSTANTIATE_TEST_SUITE_P(Shapes, CachedModels,
                         testing::Values(t5_config(), narrow_keys(t5_config()),
                                         narrow_keys(test_support::tiny_config(44))),
                         [](const auto& shape) {
                           return fmt::format("{}DKey{}", shape.param.layer.scale_attention ? "Transformer" : "T5",
                                              shape.param.layer.d_key);
                         });

TEST_P(CachedModels, EqualUncachedOnes) {
  const auto model = made(GetParam());
  const std::vector<int32_t> source = random_ids(30, 2), target = random_ids(200, 3);
  const Tensor whole = logits(*model, source, target);
  const auto generation = model->begin_generation();
  const std::vector<std::span<const int32_t>> sources{source};
  const int32_t slot = generation->add(sources).at(0);
  for (size_t t = 0; t < target.size(); ++t) {  // longer than the first table of the bias
    const StepRow row{slot, 0, target[t]};
    const Tensor seen = model->output().logits(generation->step({&row, 1})).value();
    EXPECT_THAT(seen.to_vector<float>(),
                testing::Pointwise(testing::FloatNear(1e-4F),
                                   whole.rows(static_cast<int64_t>(t), static_cast<int64_t>(t) + 1).to_vector<float>()))
        << "position " << t;
  }
  const int32_t again = generation->add(sources).at(0);
  const Tensor filled = model->output().logits(generation->prefill(again, target)).value();
  EXPECT_THAT(filled.to_vector<float>(), testing::Pointwise(testing::FloatNear(1e-4F), whole.to_vector<float>()));
}

TEST(T5Options, OneTableForAllLayersOfAStack) {
  const auto model = made(t5_config());
  EXPECT_EQ(model->parameters().find("encoder.relative_positions.weight").shape, tensor::Shape({8, 4}));
  EXPECT_EQ(model->parameters().find("decoder.relative_positions.weight").shape, tensor::Shape({8, 4}));
}

TEST(T5Options, WordsHaveAnOrderThroughTheBiasAlone) {
  const auto model = made(t5_config());
  const std::vector<int32_t> target = random_ids(3, 3);
  const std::vector<int32_t> there = {4, 5, 6, 7, 8}, back = {8, 7, 6, 5, 4};
  EXPECT_NE(logits(*model, there, target).to_vector<float>(), logits(*model, back, target).to_vector<float>());
}

// Words begin with variance 1 and logits with about as much, whatever the width.
TEST(T5Options, TheLogitsOfANewModelHaveVarianceOne) {
  TransformerConfig config = t5_config();
  config.d_model = 256;
  config.tying = Tying::kEmbeddings;  // with one table for all, a new model repeats what it reads
  const auto model = made(config);
  double squares = 0;
  const std::vector<float> seen = logits(*model, random_ids(20, 2), random_ids(20, 3)).to_vector<float>();
  for (const float logit : seen) {
    squares += logit * logit;
  }
  EXPECT_NEAR(squares / static_cast<double>(seen.size()), 1.0, 0.5);
}

void expect_gradients(TransformerConfig config) {
  config.d_model = 8;
  config.d_ff = 12;
  config.n_heads = 2;
  config.encoder_layers = config.decoder_layers = 2;
  config.layer.d_head = 3;
  Transformer model(config);
  model.parameters().allocate(tensor::DType::kFloat64);
  model.parameters().initialize(4);
  model.parameters().allocate_gradients();
  const std::vector<int32_t> source = random_ids(7, 2), target = random_ids(6, 3);
  const Tensor expected = Tensor::from(random_ids(6, 5), {6});
  const auto loss_of = [&] {
    const Variable hidden =
        model.forward({one_sentence(source), one_sentence(target)}, {.training = true, .seed = 1, .step = 1});
    return ops::linear_cross_entropy(hidden, model.output().weight, model.output().bias, expected, {0.1F, 0.25}).loss;
  };
  test_support::expect_gradients_match(model.parameters(), loss_of, 3, [](double) { return 1e-7; });
}

TEST(T5Options, GradientsOfTheWholeModelMatchFiniteDifferences) {
  TransformerConfig config = t5_config();
  config.attention_dropout = 0.1F;
  expect_gradients(config);
}

TEST(T5Options, GradientsWithANormOfTheEmbeddingsMatchFiniteDifferences) {
  TransformerConfig config = t5_config();
  config.embedding_norm = true;
  config.dropout = 0.2F;
  expect_gradients(config);
}

TEST(T5Options, AConfigurationComesBackAndOldOnesStayAsTheyWere) {
  const TransformerConfig config = t5_config();
  EXPECT_EQ(to_json(transformer_config_from_json(to_json(config), "config.json")), to_json(config));
  const std::string plain = to_json(test_support::tiny_config(44));
  for (const char* key : {"scale_output", "embedding_norm", "relative", "scale_attention"}) {
    EXPECT_EQ(plain.find(key), std::string::npos) << key;
  }
}

TEST(T5Options, RefusesBucketsThatLeaveNoRoom) {
  TransformerConfig config = t5_config();
  config.layer.relative_buckets = 10;
  EXPECT_THAT(test_support::error_of([&] { config.check(); }), testing::HasSubstr("relative_buckets is 10"));
  config = t5_config();
  config.layer.window = 5;
  EXPECT_THAT(test_support::error_of([&] { config.check(); }), testing::HasSubstr("window is 5, must be 0"));
}

}  // namespace
}  // namespace dragoman::models
