#include "models/convolutional/convolutional.h"

#include "encoder_decoder_laws.h"
#include "models/architectures/architectures.h"

namespace dragoman::models {
namespace {

struct Shape {
  const char* name;
  int kernel_width;
  int encoder_layers, decoder_layers;
};

constexpr Shape kShapes[] = {{"narrow", 2, 1, 1}, {"usual", 3, 3, 2}, {"wide", 6, 2, 3}};

ConvolutionalConfig config_of(const Shape& shape) {
  ConvolutionalConfig config;
  config.source_vocab_size = config.target_vocab_size = kVocabulary;
  config.kernel_width = shape.kernel_width;
  config.encoder_layers = shape.encoder_layers;
  config.decoder_layers = shape.decoder_layers;
  config.d_model = 20;
  config.d_hidden = 24;
  config.max_positions = 64;
  return config;
}

class ConvolutionalLaws : public testing::TestWithParam<Shape> {
 protected:
  ConvolutionalLaws() : model_(config_of(GetParam())) {
    model_.parameters().allocate();
    model_.parameters().initialize(1);
  }

  Convolutional model_;
};
INSTANTIATE_TEST_SUITE_P(Shapes, ConvolutionalLaws, testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(ConvolutionalLaws, ASentenceAloneEqualsTheSameInABatchBitForBit) {
  expect_a_sentence_alone_equals_it_in_a_batch(model_);
}

TEST_P(ConvolutionalLaws, LaterTokensChangeNothingEarlier) {
  expect_later_tokens_change_nothing_earlier(model_);
}

TEST_P(ConvolutionalLaws, StepsAndPrefillEqualTheTeacherForcedPassBitForBit) {
  expect_steps_and_prefill_equal_the_whole(model_);
}

TEST_P(ConvolutionalLaws, ReorderedBeamsSeeTheirOwnHistory) {
  expect_reordered_beams_see_their_own_history(model_);
}

TEST_P(ConvolutionalLaws, RefusesSlotsAndParentsThatAreNot) {
  expect_slots_and_parents_are_checked(model_, "convolutional generation");
}

TEST_P(ConvolutionalLaws, ShowsItsAttention) {
  expect_attention_is_shown(model_);
}

TEST_P(ConvolutionalLaws, DropoutFollowsTheRowOfTheUpdate) {
  expect_dropout_follows_the_row_of_the_update(model_);
}

TEST_P(ConvolutionalLaws, GradientsOfTheWholeModelMatchFiniteDifferences) {
  ConvolutionalConfig config = config_of(GetParam());
  config.d_model = 6;
  config.d_hidden = 5;
  Convolutional model(config);
  expect_gradients_match_differences(model);
}

TEST_P(ConvolutionalLaws, BFloat16IsNearFloat32) {
  expect_bfloat16_is_near_float32(model_, 0.1);  // scores have no factor, so the softmax is sharp
}

TEST_P(ConvolutionalLaws, AttentionOfEachLayerIsThere) {
  const FlatIds source = random_sentences({7}, 2);
  const auto generation = model_.begin_generation();
  const std::span<const int32_t> one = sentence(source, 0);
  const StepRow row{generation->add({&one, 1}).at(0), 0, 5};
  generation->step({&row, 1});
  EXPECT_FALSE(generation->attention(0).defined());  // not wanted
  generation->want_attention(std::vector<int>{0});
  EXPECT_EQ(generation->attention(0).shape(), (tensor::Shape{1, 7}));
}

TEST(ConvolutionalConfig, IsReadAsWritten) {
  for (const Shape& shape : kShapes) {
    const ModelConfig config = config_of(shape);
    const ModelConfig read = config_from_json(config.to_json(), "config.json");
    EXPECT_EQ(read.architecture(), "convolutional");
    EXPECT_EQ(read.to_json(), config.to_json());
  }
}

TEST(ConvolutionalConfig, RefusesAConvolutionOfOneRow) {
  ConvolutionalConfig config = config_of(kShapes[0]);
  config.kernel_width = 1;
  EXPECT_EQ(test_support::error_of([&] { config.check(); }), "kernel_width is 1, must be 2 to 63");
}

TEST(ConvolutionalConfig, BothTyingsOfTheEmbeddingsNeedOneVocabulary) {
  for (const Tying tying : {Tying::kNone, Tying::kTarget, Tying::kAll, Tying::kEmbeddings}) {
    ConvolutionalConfig config;
    config.tying = tying;
    EXPECT_EQ(config.sizes().one_vocabulary, shares_embeddings(tying)) << base::name_of(tying);
  }
}

}  // namespace
}  // namespace dragoman::models
