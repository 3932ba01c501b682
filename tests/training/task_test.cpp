// The trainer knows a task, its examples, its objective and its validation, and nothing else of the text: a task that
// reads no file at all trains, resumes bit for bit and chooses its best model by loss.
#include "training/task.h"

#include <gtest/gtest.h>

#include <sstream>

#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "training/copy_task.h"
#include "training/tasks.h"
#include "training/trainer.h"

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

}  // namespace
}  // namespace dragoman::training
