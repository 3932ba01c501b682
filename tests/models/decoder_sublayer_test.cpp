// Laws of Transformers whose decoder has an SSRU or average attention in place of self-attention.
#include <numeric>

#include "encoder_decoder_laws.h"
#include "models/architectures/architectures.h"
#include "models/transformer/transformer.h"
#include "support/tiny_config.h"

namespace dragoman::models {
namespace {

struct Shape {
  const char* name;
  nn::DecoderSublayer sublayer;
  nn::NormOrder order;
};

constexpr Shape kShapes[] = {
    {"ssru_post", nn::DecoderSublayer::kSsru, nn::NormOrder::kPost},
    {"ssru_pre", nn::DecoderSublayer::kSsru, nn::NormOrder::kPre},
    {"average_attention_post", nn::DecoderSublayer::kAverageAttention, nn::NormOrder::kPost},
    {"average_attention_pre", nn::DecoderSublayer::kAverageAttention, nn::NormOrder::kPre},
};

TransformerConfig config_of(const Shape& shape) {
  TransformerConfig config = test_support::tiny_config(kVocabulary);
  config.encoder_layers = 3;
  config.decoder_sublayer = shape.sublayer;
  config.norm_order = shape.order;
  config.dropout = 0.3F;
  config.attention_dropout = 0.1F;
  config.activation_dropout = 0.1F;
  return config;
}

class DecoderSublayerLaws : public testing::TestWithParam<Shape> {
 protected:
  DecoderSublayerLaws() : model_(config_of(GetParam())) {
    model_.parameters().allocate();
    model_.parameters().initialize(1);
  }

  Transformer model_;
};
INSTANTIATE_TEST_SUITE_P(Shapes, DecoderSublayerLaws, testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(DecoderSublayerLaws, ASentenceAloneEqualsTheSameInABatchBitForBit) {
  expect_a_sentence_alone_equals_it_in_a_batch(model_);
}

TEST_P(DecoderSublayerLaws, LaterTokensChangeNothingEarlier) {
  expect_later_tokens_change_nothing_earlier(model_);
}

TEST_P(DecoderSublayerLaws, StepsAndPrefillEqualTheTeacherForcedPass) {
  expect_steps_and_prefill_equal_the_whole(model_, 2e-5F);
}

TEST_P(DecoderSublayerLaws, ReorderedBeamsSeeTheirOwnHistory) {
  for (const kernels::Precision precision : {kernels::Precision::kFloat32, kernels::Precision::kInt8}) {
    model_.parameters().pack_weights(precision);
    expect_reordered_beams_see_their_own_history(model_);
  }
}

TEST_P(DecoderSublayerLaws, RefusesSlotsAndParentsThatAreNot) {
  expect_slots_and_parents_are_checked(model_, "decoder state");
}

TEST_P(DecoderSublayerLaws, DropoutFollowsTheRowOfTheUpdate) {
  expect_dropout_follows_the_row_of_the_update(model_);
}

TEST_P(DecoderSublayerLaws, BFloat16IsNearFloat32) {
  expect_bfloat16_is_near_float32(model_, 0.1);  // ReLU of numbers near 0 changes its mind
}

TEST_P(DecoderSublayerLaws, GradientsOfTheWholeModelMatchFiniteDifferences) {
  TransformerConfig config = config_of(GetParam());
  config.d_model = 8;
  config.d_ff = 12;
  config.n_heads = 2;
  config.encoder_layers = config.decoder_layers = 1;
  config.activation = kernels::Activation::kGelu;  // smooth: a kink would spoil the differences
  Transformer model(config);
  expect_gradients_match_differences(model);
}

// A prefix that is fed at once leaves the bits of as many steps, in every precision that decodes.
TEST_P(DecoderSublayerLaws, APrefillLeavesTheBitsOfSteps) {
  const FlatIds source = random_sentences({7}, 2), target = random_sentences({9}, 3);
  const std::span<const int32_t> one = sentence(source, 0), words = sentence(target, 0);
  for (const kernels::Precision precision :
       {kernels::Precision::kFloat32, kernels::Precision::kBFloat16, kernels::Precision::kInt8}) {
    model_.parameters().pack_weights(precision);
    const std::vector<float> expected = logits_alone(model_, one, {words.begin(), words.end()}).to_vector<float>();
    for (const size_t fed : {size_t{0}, size_t{1}, size_t{8}}) {
      const auto generation = model_.begin_generation();
      const int32_t slot = generation->add({&one, 1}).at(0);
      generation->prefill(slot, words.first(fed));
      Tensor last;
      for (const int32_t id : words.subspan(fed)) {
        const StepRow row{slot, 0, id};
        last = logits_of_step(model_, *generation, {&row, 1});
      }
      EXPECT_EQ(last.to_vector<float>(), expected) << kernels::name_of(precision) << ", " << fed << " fed at once";
    }
  }
}

TEST_P(DecoderSublayerLaws, TheCrossAttentionOfStepsIsThere) {
  const FlatIds source = random_sentences({7, 3}, 2);
  const std::span<const int32_t> sources[] = {sentence(source, 0), sentence(source, 1)};
  const auto generation = model_.begin_generation();
  const std::vector<int32_t> slots = generation->add(sources);
  generation->want_attention(std::vector<int>{0, kLastLayer});
  const StepRow rows[] = {{slots[0], 0, 5}, {slots[1], 0, 6}};
  generation->step(rows);
  for (const int layer : {0, kLastLayer}) {
    const std::vector<float> weights = generation->attention(layer).to_vector<float>();
    ASSERT_EQ(weights.size(), 14U);
    EXPECT_NEAR(std::accumulate(weights.begin(), weights.begin() + 7, 0.0F), 1.0F, 1e-5F);
    EXPECT_NEAR(std::accumulate(weights.begin() + 7, weights.begin() + 10, 0.0F), 1.0F, 1e-5F);
    EXPECT_EQ(weights[10], 0.0F);
  }
}

TEST_P(DecoderSublayerLaws, RecomputedLayersGiveTheSameGradientsBitForBit) {
  const FlatIds source = random_sentences({5, 7, 1}, 2), target = random_sentences({4, 9, 3}, 3);
  const auto gradients = [&](nn::Recompute recompute) {
    model_.parameters().allocate_gradients();
    autograd::Tape tape;
    const autograd::TapeScope recording(&tape);
    const Variable hidden = model_.forward({make_token_rows(source), make_token_rows(target)},
                                           {.training = true, .seed = 1, .step = 1, .recompute = recompute});
    tape.backward(ops::linear_cross_entropy(hidden, model_.output().weight, {},
                                            Tensor::from(random_sentences({16}, 5).ids, {16}), {0.1F, 0.25})
                      .loss);
    return model_.parameters().gradients().to_vector<float>();
  };
  EXPECT_EQ(gradients(nn::Recompute::kLayers), gradients(nn::Recompute::kNone));
}

// Relative positions, too, are declared where there is self-attention alone.
TEST_P(DecoderSublayerLaws, TheDecoderHasNoSelfAttention) {
  TransformerConfig config = config_of(GetParam());
  config.positions = nn::PositionKind::kRelative;
  const Transformer model(config);
  for (const auto& parameter : model.parameters().parameters()) {
    const bool is_decoders = parameter->path.starts_with("decoder.");
    EXPECT_FALSE(is_decoders && parameter->path.find("self_attention") != std::string::npos) << parameter->path;
    EXPECT_NE(parameter->path, "decoder.relative_positions.weight");
  }
}

TEST_P(DecoderSublayerLaws, TheConfigurationIsReadAsWritten) {
  const ModelConfig config = config_of(GetParam());
  EXPECT_EQ(config_from_json(config.to_json(), "config.json").to_json(), config.to_json());
  EXPECT_NE(config.to_json().find(base::name_of(GetParam().sublayer)), std::string::npos);
}

TEST(DecoderSublayer, OlderModelsAndTheirFilesAreThoseOfSelfAttention) {
  EXPECT_EQ(to_json(test_support::tiny_config()).find("decoder_sublayer"), std::string::npos);
}

TEST(DecoderSublayer, AWindowNeedsSelfAttention) {
  TransformerConfig config = config_of(kShapes[0]);
  config.layer.window = 4;
  EXPECT_EQ(test_support::error_of([&] { config.check(); }), "window is 4, must be 0 with decoder_sublayer ssru");
}

}  // namespace
}  // namespace dragoman::models
