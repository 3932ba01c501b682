// Options that another option switches off are named.
#include "training/idle_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/transformer/transformer_config.h"
#include "training/presets.h"

namespace dragoman::training {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Transformer = models::TransformerConfig;

TEST(IdleOptions, NoPresetHasAny) {
  for (const std::string preset : {"tiny", "tiny-hour", "base", "gru-mini", "conv-mini", "t5-mini", "llama-mini"}) {
    EXPECT_THAT(idle_options(preset_options(preset)), IsEmpty()) << preset;
  }
}

TEST(IdleOptions, AnOptionIsNamedUntilTheOneItNeedsIsSet) {
  TrainOptions options = preset_options("tiny");
  options.loss.simcut_words = 0.1;
  options.adam.muon_momentum = 0.9;
  options.run.average_best = true;
  options.run.average = 0;
  EXPECT_THAT(idle_options(options), ElementsAre("--muon-momentum is of no use while --optimizer is adam",
                                                 "--simcut-words is of no use while --simcut is 0",
                                                 "--average-best is of no use while --average is 0"));
  options.loss.simcut = 3.0;
  options.adam.optimizer = OptimizerKind::kMuon;
  options.run.average = 5;
  EXPECT_THAT(idle_options(options), IsEmpty());
}

TEST(IdleOptions, LayersOfOtherArchitecturesAreNotComputedAgain) {
  TrainOptions options = preset_options("gru-mini");
  options.run.recompute = nn::Recompute::kLayers;
  EXPECT_THAT(idle_options(options), ElementsAre("--recompute layers is of no use to a recurrent model"));
}

TEST(IdleOptions, UpdatesDoNotLowerARateThatFollowsTheClock) {
  TrainOptions options = preset_options("tiny-hour");
  options.run.max_steps = 900;
  EXPECT_THAT(
      idle_options(options),
      ElementsAre("the learning rate falls over --total-minutes 55, wherever --max-steps 900 ends the run; with "
                  "--schedule cosine it falls over --max-steps"));
  options.schedule.kind = ScheduleKind::kCosine;
  EXPECT_THAT(idle_options(options), IsEmpty());
}

TEST(IdleOptions, ThoseOfTheModelAreNamedUnlessAnotherModelGivesTheShape) {
  TrainOptions options = preset_options("tiny");
  options.model = options.model.with<Transformer>([](auto& config) { config.layer.rope_theta = 500.0; });
  EXPECT_THAT(idle_options(options), ElementsAre("--rope-theta is of no use while --positions is sinusoidal"));
  options.initial_model = "given";
  EXPECT_THAT(idle_options(options), IsEmpty());
  options.initial_model = "";
  options.model = options.model.with<Transformer>([](auto& config) { config.positions = nn::PositionKind::kRotary; });
  EXPECT_THAT(idle_options(options), IsEmpty());
}

}  // namespace
}  // namespace dragoman::training
