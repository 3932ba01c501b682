// The trainer knows a task, its examples, its objective and its validation, and nothing else of the text: a task that
// reads no file at all trains, resumes bit for bit and chooses its best model by loss.
#include "training/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "models/decoder_only/decoder_only_config.h"
#include "models/encoder_only/encoder_only_config.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "training/copy_task.h"
#include "training/presets.h"
#include "training/task_model.h"
#include "training/tasks.h"
#include "training/trainer.h"
#include "training/validation_examples.h"

namespace dragoman::training {
namespace {

struct Trained {
  RunState state;
  std::vector<float> weights;
  std::string said;
};

Trained train(const TrainOptions& options) {
  distributed::SingleProcess alone;
  std::ostringstream terminal;
  Trainer trainer(options, std::make_unique<CopyTask>(), alone, terminal);
  EXPECT_EQ(trainer.run(), StopReason::kMaxSteps);
  return {trainer.state(), trainer.model().parameters().values().to_vector<float>(), terminal.str()};
}

TEST(Task, OfACallersOwnTrainsAndIsValidatedByLoss) {
  const test_support::TemporaryFolder folder;
  const Trained trained = train(options_of(folder.path() / "model", 20));
  EXPECT_NE(trained.said.find("nothing was learned from text"), std::string::npos) << trained.said;
  EXPECT_NE(trained.said.find("warning: the words are few"), std::string::npos) << trained.said;
  EXPECT_EQ(trained.said.find("BLEU"), std::string::npos) << "not measured, so not shown: " << trained.said;
  const auto metrics = report::read_metrics(folder.path() / "model" / "metrics.jsonl");
  ASSERT_EQ(metrics.validation.size(), 4U);
  EXPECT_LT(metrics.validation.back().loss, metrics.validation.front().loss);
  EXPECT_TRUE(std::isnan(metrics.validation.back().bleu));
  EXPECT_EQ(trained.state.best_step, 20);
}

TEST(Task, ResumedIsNeverStopped) {
  const test_support::TemporaryFolder folder;
  const Trained whole = train(options_of(folder.path() / "whole", 12));
  train(options_of(folder.path() / "halves", 7));
  EXPECT_EQ(train(options_of(folder.path() / "halves", 12)).weights, whole.weights);
}

TEST(Task, ValidationExamplesAreReadOrTheLastOnes) {
  using Examples = std::vector<int>;
  const auto read = [](const std::vector<std::filesystem::path>& files) {
    return Examples{100 + static_cast<int>(files.size())};
  };
  TrainOptions options;
  Examples training = {1, 2, 3, 4, 5};
  EXPECT_EQ(validation_examples(training, options, read), Examples());
  options.running_text.valid_share = 0.3;
  EXPECT_EQ(validation_examples(training, options, read), (Examples{4, 5}));
  EXPECT_EQ(training, (Examples{1, 2, 3}));
  options.valid_text = {"valid.tsv"};
  EXPECT_THAT(test_support::error_of([&] { validation_examples(training, options, read); }),
              testing::HasSubstr("--valid-text and --valid-share both name validation text"));
  options.running_text.valid_share = 0.0;
  EXPECT_EQ(validation_examples(training, options, read), Examples{101});
  options.valid_text.clear();
  options.running_text.valid_share = 0.9;
  Examples one = {1};
  EXPECT_THAT(test_support::error_of([&] { validation_examples(one, options, read); }),
              testing::HasSubstr("valid_share is 0.9, which leaves nothing of 1 examples on one side"));
}

TEST(Tasks, AnUnknownOneIsRefused) {
  TrainOptions options;
  options.task = "divination";
  try {
    make_task(options);
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_STREQ(error.what(),
                 "train: task is \"divination\", must be one of translation, language-model, span-corruption, "
                 "text-to-text, masked-language-model, classify, tag, embed");
  }
}

// A model that reads no source would learn the targets alone, and an encoder has no rows for them.
TEST(Tasks, APresetOfAnotherKindOfModelIsRefusedBeforeTextIsRead) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> kinds = {
      {"an encoder and a decoder", {"translation", "span-corruption", "text-to-text"}},
      {"a decoder without an encoder", {"language-model"}},
      {"an encoder", {"masked-language-model", "classify", "tag", "embed"}}};
  const std::vector<std::vector<std::string>> presets = {
      {"tiny", "gru-mini", "conv-mini", "t5-mini"}, {"gpt-mini", "llama-mini"}, {"bert-mini"}};
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    for (const std::string& task : kinds[kind].second) {
      for (size_t other = 0; other < presets.size(); ++other) {
        for (const std::string& preset : presets[other]) {
          TrainOptions options = preset_options(preset);
          options.task = task;
          (task == "translation" ? options.source : options.text) = {"none.txt"};
          options.target = options.source;
          const std::string refused = test_support::error_of([&] { make_task(options); });
          const std::string expected = "train: task " + task + " needs " + kinds[kind].first + ", the preset " + preset;
          EXPECT_EQ(refused.starts_with(expected), kind != other) << refused;
          EXPECT_EQ(refused.find("none.txt: cannot open") != std::string::npos, kind == other) << refused;
        }
      }
    }
  }
}

TEST(Tasks, AModelToStartFromMustBeOfTheKind) {
  const std::vector<models::ModelConfig> models = {models::TransformerConfig(), models::DecoderOnlyConfig(),
                                                   models::EncoderOnlyConfig()};
  for (size_t needed = 0; needed < models.size(); ++needed) {
    for (size_t given = 0; given < models.size(); ++given) {
      const std::string refused = test_support::error_of(
          [&] { check_model_suits(static_cast<models::ModelKind>(needed), "embed", models[given]); });
      const std::string architecture(models[given].architecture());
      EXPECT_EQ(refused.find("--initial-model holds a model of architecture " + architecture) != std::string::npos,
                needed != given)
          << refused;
    }
  }
}

TEST(Tasks, TextOfAnotherTaskIsNotIgnored) {
  TrainOptions options = preset_options("tiny");
  options.text = {"none.txt"};
  EXPECT_NE(test_support::error_of([&] { make_task(options); }).find("name another --preset or --task"),
            std::string::npos);
}

}  // namespace
}  // namespace dragoman::training
