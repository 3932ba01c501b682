#include "models/recurrent/recurrent.h"

#include "encoder_decoder_laws.h"
#include "models/architectures/architectures.h"
#include "support/error_of.h"
#include "support/recurrent_shape.h"

namespace dragoman::models {
namespace {

using kernels::CellKind;

using Shape = test_support::RecurrentShape;

constexpr Shape kShapes[] = {{"gru", CellKind::kGru, RecurrentAttention::kNone, false, 1},
                             {"gru_bahdanau", CellKind::kGru, RecurrentAttention::kBahdanau, false, 1},
                             {"gru_luong_3", CellKind::kGru, RecurrentAttention::kLuong, false, 3},
                             {"lstm_3", CellKind::kLstm, RecurrentAttention::kNone, false, 3},
                             {"lstm_bahdanau_2", CellKind::kLstm, RecurrentAttention::kBahdanau, false, 2},
                             {"lstm_luong", CellKind::kLstm, RecurrentAttention::kLuong, false, 1},
                             {"lstm_feeding", CellKind::kLstm, RecurrentAttention::kLuong, true, 1},
                             {"gru_feeding_2", CellKind::kGru, RecurrentAttention::kLuong, true, 2}};

RecurrentConfig config_of(const Shape& shape) {
  return test_support::recurrent_config(shape, kVocabulary, 20, 24);
}

class RecurrentLaws : public testing::TestWithParam<Shape> {
 protected:
  RecurrentLaws() : model_(config_of(GetParam())) {
    model_.parameters().allocate();
    model_.parameters().initialize(1);
  }

  Recurrent model_;
};
INSTANTIATE_TEST_SUITE_P(Shapes, RecurrentLaws, testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(RecurrentLaws, ASentenceAloneEqualsTheSameInABatchBitForBit) {
  expect_a_sentence_alone_equals_it_in_a_batch(model_);
}

TEST_P(RecurrentLaws, LaterTokensChangeNothingEarlier) {
  expect_later_tokens_change_nothing_earlier(model_);
}

TEST_P(RecurrentLaws, StepsAndPrefillEqualTheTeacherForcedPassBitForBit) {
  expect_steps_and_prefill_equal_the_whole(model_);
}

TEST_P(RecurrentLaws, ReorderedBeamsSeeTheirOwnHistory) {
  expect_reordered_beams_see_their_own_history(model_);
}

TEST_P(RecurrentLaws, RefusesSlotsAndParentsThatAreNot) {
  expect_slots_and_parents_are_checked(model_, "recurrent generation");
}

TEST_P(RecurrentLaws, ShowsItsAttention) {
  expect_attention_is_shown(model_);
}

TEST_P(RecurrentLaws, DropoutFollowsTheRowOfTheUpdate) {
  expect_dropout_follows_the_row_of_the_update(model_);
}

TEST_P(RecurrentLaws, GradientsOfTheWholeModelMatchFiniteDifferences) {
  RecurrentConfig config = config_of(GetParam());
  config.d_model = 6;
  config.d_hidden = 5;
  Recurrent model(config);
  expect_gradients_match_differences(model);
}

TEST_P(RecurrentLaws, BFloat16IsNearFloat32) {
  expect_bfloat16_is_near_float32(model_);
}

TEST(RecurrentConfig, IsReadAsWritten) {
  for (const Shape& shape : kShapes) {
    const ModelConfig config = config_of(shape);
    const ModelConfig read = config_from_json(config.to_json(), "config.json");
    EXPECT_EQ(read.architecture(), "recurrent");
    EXPECT_EQ(read.to_json(), config.to_json());
  }
}

TEST(RecurrentConfig, RefusesInputFeedingWithoutLuong) {
  RecurrentConfig config = config_of(kShapes[1]);
  config.input_feeding = true;
  EXPECT_EQ(
      test_support::error_of([&] { config.check(); }),
      "input_feeding true is for attention \"luong\"; attention is \"bahdanau\", which needs input_feeding false");
}

}  // namespace
}  // namespace dragoman::models
