// Which model stands at the top of the folder when a run has ended: the one with the best score, and scores are
// compared only with scores of the same measure.
#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "models/model_folder.h"
#include "support/temporary_folder.h"
#include "training/copy_task.h"
#include "training/trainer.h"

namespace dragoman::training {
namespace {

namespace fs = std::filesystem;

// By accident a model that has learned nothing may have more BLEU than one that has learned a little.
TEST(ValidationResult, BleuBelowOneIsNotComparedButTheLossIs) {
  const auto score = [](double bleu, double nll) {
    ValidationResult result;
    result.bleu = bleu;
    result.sums.nll = nll;
    result.sums.tokens = 1;
    return result.score(ValidationMetric::kBleu);
  };
  EXPECT_GT(score(0.0, 5.1), score(0.07, 5.7));
  EXPECT_GT(score(1.1, 9.0), score(0.9, 1.0));
  EXPECT_GT(score(1.2, 5.0), score(1.1, 4.0));
}

// What the validations of one part of a run find, in order. Nothing: there is no validation text.
struct Script {
  std::deque<double> scores;
  std::string text = "a text";
};

class ScriptedValidation : public Validation {
 public:
  explicit ScriptedValidation(const Script& script) : scores_(script.scores), has_data_(!script.scores.empty()) {}
  bool has_data() const override { return has_data_; }
  ValidationResult run(DataParallel& /*replicas*/, const models::Model& /*model*/,
                       distributed::ProcessGroup& /*processes*/, const ValidationLimits& /*limits*/) const override {
    if (scores_.empty()) {
      ADD_FAILURE() << "a validation more than the script has";
      return {};
    }
    ValidationResult result;
    result.sums.tokens = 1;
    result.bleu = result.chrf = scores_.front();
    scores_.pop_front();
    return result;
  }

 private:
  mutable std::deque<double> scores_;
  bool has_data_;
};

class ScriptedTask : public CopyTask {
 public:
  explicit ScriptedTask(Script script) : script_(std::move(script)) {}
  std::string validation_fingerprint() const override { return script_.text; }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& /*vocabularies*/,
                                         const TrainOptions& /*options*/) const override {
    return std::make_unique<ScriptedValidation>(script_);
  }

 private:
  Script script_;
};

class BestModel : public testing::Test {
 protected:
  BestModel() : options_(options_of(folder_.path() / "model", 10)) {
    options_.run.metric = ValidationMetric::kBleu;
    options_.run.keep_last = options_.run.keep_best = 100;
  }

  StopReason train(const Script& script, int64_t steps) {
    options_.run.max_steps = steps;
    distributed::SingleProcess alone;
    std::ostringstream terminal;
    Trainer trainer(options_, std::make_unique<ScriptedTask>(script), alone, terminal);
    const StopReason reason = trainer.run();
    said_ = terminal.str();
    state_ = trainer.state();
    return reason;
  }

  std::string error_of(const Script& script) {
    try {
      train(script, 10);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::kUsage);
      return error.what();
    }
    return "no error";
  }

  bool said(const std::string& text) const { return said_.find(text) != std::string::npos; }
  std::string top() const { return base::sha256_file(options_.model_folder / models::kWeightsName); }
  std::string weights_of(int64_t step) const {
    return base::sha256_file(checkpoint_folder(options_.model_folder, step) / models::kWeightsName);
  }

  test_support::TemporaryFolder folder_;
  TrainOptions options_;
  std::string said_;
  RunState state_;
};

TEST_F(BestModel, ScoresOfAnotherMetricAreNotCompared) {
  options_.run.metric = ValidationMetric::kChrf;
  options_.run.patience = 2;
  train({{30.0, 20.0}}, 10);
  options_.run.metric = ValidationMetric::kBleu;
  EXPECT_EQ(train({{1.0, 2.0, 1.5, 1.5}}, 100), StopReason::kEarlyStop);
  EXPECT_TRUE(said("(metric chrf, now bleu)")) << said_;
  EXPECT_TRUE(said("of step 5 (chrf 30.00)")) << said_;
  EXPECT_EQ(state_.best_step, 20);
  EXPECT_EQ(state_.step, 30) << "patience begins anew too";
  EXPECT_EQ(top(), weights_of(20));
}

TEST_F(BestModel, ScoresOfAnotherTextOrTokenizerAreNotCompared) {
  train({{30.0, 20.0}}, 10);
  train({{10.0}, "a hard text"}, 15);
  EXPECT_TRUE(said("(other validation text)")) << said_;
  EXPECT_EQ(top(), weights_of(15));
  options_.run.tokenize = evaluation::Tokenizer::kZh;
  train({{5.0}, "a hard text"}, 20);
  EXPECT_TRUE(said("(tokenizer 13a, now zh)")) << said_;
  EXPECT_EQ(top(), weights_of(20));
  EXPECT_EQ(state_.scores.size(), 1U) << "an average of the best would mix them";
}

TEST_F(BestModel, ScoresOfTheSameMeasureAre) {
  options_.run.metric = ValidationMetric::kChrf;
  train({{30.0, 20.0}}, 10);
  options_.run.tokenize = evaluation::Tokenizer::kZh;  // chrF has no words
  train({{10.0}}, 15);
  EXPECT_FALSE(said("begin anew")) << said_;
  EXPECT_EQ(state_.best_step, 5);
  EXPECT_EQ(top(), weights_of(5));
}

TEST_F(BestModel, CheckpointsThatDoNotSayWhatTheyMeasuredWithAreRead) {
  RunState state;
  state.batcher = "{}";
  state.best_step = 7;
  state.measure.metric = "bleu";
  nlohmann::json tree = nlohmann::json::parse(to_json(state));
  EXPECT_EQ(run_state_from_json(tree.dump(), "state.json").measure, state.measure);
  tree.erase("measure");
  const RunState old = run_state_from_json(tree.dump(), "state.json");
  EXPECT_EQ(old.best_step, 7);
  EXPECT_EQ(changes_of(old.measure, measure_of(options_.run, "a text")), "");
}

TEST_F(BestModel, StaysWhereTheValidationTextIsMissing) {
  train({{30.0, 20.0}}, 10);
  options_.run.average = 2;
  train({}, 15);
  EXPECT_TRUE(said("the model stays that of step 5 (bleu 30.00)")) << said_;
  EXPECT_TRUE(said("not compared, for there is no validation text; the best checkpoint stays the model")) << said_;
  EXPECT_EQ(top(), weights_of(5));
  train({{25.0, 10.0}}, 15);  // the last step, which was not validated, and the average
  EXPECT_TRUE(said("validation at step 15")) << said_;
  EXPECT_TRUE(said("the best checkpoint stays the model")) << said_;
  EXPECT_EQ(top(), weights_of(5));
}

TEST_F(BestModel, TakesThePlaceOfWhatAnEarlierPartLeft) {
  train({{30.0, 20.0, 40.0}}, 12);  // stopped between two validations, with a better score than any of them
  EXPECT_EQ(top(), weights_of(12));
  train({{25.0}}, 15);
  EXPECT_EQ(top(), weights_of(5)) << "as in a run that was never stopped";
}

TEST_F(BestModel, KeepsWhatWasTunedWhenTheFinishedRunIsStartedAgain) {
  train({{30.0, 20.0}}, 10);
  models::store_decoding(options_.model_folder, "{\"beam_size\": 2}");
  train({{1.0}}, 10);  // no validation is due
  EXPECT_TRUE(fs::exists(options_.model_folder / models::kDecodingName));
}

TEST_F(BestModel, IsValidatedWhenTimeIsUp) {
  options_.run.validate_every = 1'000'000;
  for (double RunOptions::*limit : {&RunOptions::max_minutes, &RunOptions::total_minutes}) {
    options_.model_folder = folder_.path() / (limit == &RunOptions::max_minutes ? "part" : "whole");
    options_.run.max_minutes = options_.run.total_minutes = 0.0;
    options_.run.*limit = 1e-4;
    train({{3.0}}, 1'000'000);
    EXPECT_GT(state_.step, 0);
    EXPECT_EQ(state_.best_step, state_.step);
    EXPECT_TRUE(said("(best so far)")) << said_;
    EXPECT_EQ(top(), weights_of(state_.step));
  }
}

TEST_F(BestModel, ThatNoRunMadeHereIsNotTrainedOver) {
  train({{30.0}}, 5);
  fs::remove_all(options_.model_folder / "checkpoints");
  const std::string weights = top();
  const std::string message = error_of({{40.0}});
  EXPECT_NE(message.find("holds a model, but no checkpoint of a run"), std::string::npos) << message;
  EXPECT_NE(message.find("--initial-model " + options_.model_folder.string()), std::string::npos) << message;
  fs::create_directories(options_.model_folder / "checkpoints");
  EXPECT_EQ(error_of({{40.0}}), message);
  EXPECT_EQ(top(), weights);
  fs::remove(options_.model_folder / base::kManifestName);
  EXPECT_EQ(error_of({{40.0}}), message) << "weights without a manifest are somebody's too";
}

TEST_F(BestModel, IsNotTrainedOverBecauseItsCheckpointIsDamaged) {
  train({{30.0}}, 5);
  const std::string weights = top();
  std::ofstream(checkpoint_folder(options_.model_folder, 5) / "state.json") << "{}";
  const std::string message = error_of({{40.0}});
  EXPECT_NE(message.find("no checkpoint of a run that could go on ("), std::string::npos) << message;
  EXPECT_NE(message.find("step-5"), std::string::npos) << message;
  EXPECT_EQ(top(), weights);
}

TEST_F(BestModel, OfARunKilledBeforeItsFirstCheckpointIsItsOwn) {
  train({{30.0}}, 5);
  EXPECT_FALSE(awaits_first_checkpoint(options_.model_folder));
  fs::remove_all(options_.model_folder / "checkpoints");
  mark_first_model(options_.model_folder);
  train({{30.0}}, 5);
  EXPECT_EQ(top(), weights_of(5));
  EXPECT_FALSE(awaits_first_checkpoint(options_.model_folder));
}

TEST_F(BestModel, AScoreThatATaskDoesNotMeasureIsRefused) {
  options_.run.metric = ValidationMetric::kMrr;
  try {
    train({{1.0}}, 10);
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_NE(std::string(error.what()).find("does not measure --metric mrr"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dragoman::training
